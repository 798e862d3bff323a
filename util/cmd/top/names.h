/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_NAMES_H
#define UTIL_CMD_TOP_NAMES_H

#include "util/cmd/top/rates.h"

struct scribe_top_names;

struct scribe_top_names *scribe_top_names_new(void); /* NULL: out of memory */
struct scribe_top_names *scribe_top_names_free(struct scribe_top_names *names);

int scribe_top_names_fetch(struct scribe_top_names *names, struct scribe_live_link *link,
			   const struct scribe_top_rows *rows, size_t first, size_t end, struct scribe_err *err);
/* The file's name, any bytes, borrowed; a placeholder if unknown. */
const char *scribe_top_name(const struct scribe_top_names *names, const struct scribe_top_row *row, size_t *len);

#endif
