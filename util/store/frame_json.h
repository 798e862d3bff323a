/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a Python analysis, in the format of python/ioscribe/analysis.py. */
#ifndef UTIL_STORE_FRAME_JSON_H
#define UTIL_STORE_FRAME_JSON_H

#include <stddef.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

#define SCRIBE_FRAME_COLUMNS 64

struct scribe_frame_json;

/* All is borrowed until free. NULL: out of memory. */
struct scribe_frame_json *scribe_frame_json_new(const char *name, scribe_sql_row_fn *row, void *ctx,
						struct scribe_err *err);
struct scribe_frame_json *scribe_frame_json_free(struct scribe_frame_json *f);

/* 1: complete; 0: not yet. */
int scribe_frame_json_feed(struct scribe_frame_json *f, const void *bytes, size_t n);

#endif
