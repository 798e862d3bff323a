/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_PRINT_H
#define UTIL_CMD_TOP_PRINT_H

#include "util/cmd/top/columns.h"
#include "util/text/outbuf.h"

enum scribe_top_format { SCRIBE_TOP_TABLE, SCRIBE_TOP_JSON, SCRIBE_TOP_LINES };

/* Fits a cell into `width` columns, padded; an overlong file name keeps its end. `to`: SCRIBE_TOP_CELL bytes. */
void scribe_top_fit(const struct scribe_top_column *column, const char *cell, int width, char *to);

/* Prints at most `most` rows. 0 or -ENOMEM. */
int scribe_top_print(struct scribe_out *out, enum scribe_top_format format, const struct scribe_top_rows *rows,
		     size_t most, enum scribe_top_view view, const struct scribe_top_names *names, int64_t real_ns);

#endif
