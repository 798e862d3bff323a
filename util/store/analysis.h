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
	int limit_ms;               /* of an analysis in Python, which is then killed; 0: none */
	const bool *stop;           /* set by another thread: give up; may be NULL */
};

/*
 * Ask q, whose values were checked (scribe_question_values), and have each row told. Python runs as
 * a process of its own, in a group of its own where there is a limit; nothing of it is left on
 * return. 0 or a negative code with a message: -EIO where an analysis failed, -ETIMEDOUT, -ECANCELED.
 */
int scribe_question_ask(const struct scribe_question *q, const struct scribe_sql_value *values,
			const struct scribe_ask *from, scribe_sql_row_fn *row, void *ctx,
			struct scribe_err *err);

#endif
