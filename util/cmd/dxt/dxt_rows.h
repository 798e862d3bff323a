/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_DXT_DXT_ROWS_H
#define UTIL_CMD_DXT_DXT_ROWS_H

#include <stdbool.h>

#include "logfmt/counters/records.h"
#include "logfmt/file/log_types.h"
#include "util/text/dxt_text.h"

enum scribe_dxt_format { SCRIBE_DXT_TEXT, SCRIBE_DXT_JSON, SCRIBE_DXT_CSV };

/* Zero-initialised except `out` and `format` (JSON or CSV). */
struct scribe_dxt_rows {
	struct scribe_out *out;
	enum scribe_dxt_format format;
	uint64_t rows;
};

void scribe_dxt_rows_begin(struct scribe_dxt_rows *r);
/* Rows of a piece of a record; a whole record is the piece from 0 on. 0 or -ENOMEM. */
int scribe_dxt_rows_piece(struct scribe_dxt_rows *r, int module, const struct scribe_dxt_piece *p,
			  const struct scribe_dxt_place *at, bool threads);
void scribe_dxt_rows_end(struct scribe_dxt_rows *r);

#endif
