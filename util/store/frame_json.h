/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer of an analysis in Python, as python/ioscribe/analysis.py writes it, into rows. */
#ifndef UTIL_STORE_FRAME_JSON_H
#define UTIL_STORE_FRAME_JSON_H

#include <stddef.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

#define SCRIBE_FRAME_COLUMNS 64

struct scribe_frame_json;

/*
 * Rows are told to `row` as they come. `name` stands in messages; it, `ctx` and `err` are borrowed until
 * free, which takes NULL. NULL: out of memory.
 */
struct scribe_frame_json *scribe_frame_json_new(const char *name, scribe_sql_row_fn *row, void *ctx,
						struct scribe_err *err);
struct scribe_frame_json *scribe_frame_json_free(struct scribe_frame_json *f);

/* The next bytes. 1: the answer is complete; 0: more is to come; or a negative code with a message. */
int scribe_frame_json_feed(struct scribe_frame_json *f, const void *bytes, size_t n);

#endif
