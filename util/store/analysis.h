/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a question, in whichever language it is. */
#ifndef UTIL_STORE_ANALYSIS_H
#define UTIL_STORE_ANALYSIS_H

#include <stdbool.h>

#include "util/store/question.h"
#include "util/store/store.h"

struct scribe_ask {
	struct scribe_store *store; /* open, for SQL */
	const char *db, *folders;   /* for Python: the same store's place, and where its questions are */
	struct scribe_sql_limit limit;
};

/*
 * Ask q, whose values were checked (scribe_question_values), and have each row told. Python runs as
 * a process of its own. Where there is a limit nothing of what it has started is left on return: then
 * the caller has no other children, and orphans become its own from the first question on. 0 or a negative
 * code with a message: -EIO where an analysis failed, -ETIMEDOUT, -ECANCELED.
 */
int scribe_question_ask(const struct scribe_question *q, const struct scribe_sql_value *values,
			const struct scribe_ask *from, scribe_sql_row_fn *row, void *ctx,
			struct scribe_err *err);

#endif
