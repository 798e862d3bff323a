/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs questions. */
#ifndef UTIL_STORE_ANALYSIS_H
#define UTIL_STORE_ANALYSIS_H

#include <stdbool.h>

#include "util/store/question.h"
#include "util/store/store.h"

struct scribe_ask {
	struct scribe_store *store;
	const char *db, *folders; /* for Python */
	int64_t uid;              /* it sees only this user's jobs; -1: all */
	struct scribe_sql_limit limit;
};

/*
 * `row` receives each row. Python runs as a process; with a limit, nothing that it started survives the call, so
 * the caller must not have other children. -EIO, -ETIMEDOUT, -ECANCELED.
 */
int scribe_question_run(const struct scribe_question *q, const struct scribe_sql_value *values,
			const struct scribe_ask *from, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);

#endif
