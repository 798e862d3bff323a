/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of questions as JSON: as tables, or as series over time. */
#ifndef UTIL_CMD_SERVE_ANSWER_H
#define UTIL_CMD_SERVE_ANSWER_H

#include <stdbool.h>
#include <yajl/yajl_gen.h>

#include "util/cmd/serve/serve.h"
#include "util/store/question.h"

struct scribe_answer_want {
	/* the value of a parameter, or NULL; a column's name with a value (module, rank) is a condition, too
	 */
	const char *(*value)(void *ctx, const char *name);
	void *ctx;
	bool grafana; /* times in milliseconds; a first column time_us makes series */
	bool table;   /* never series */
};

/* What is counted of a request begins anew. */
void scribe_answer_begin(struct scribe_serve *serve);
/*
 * Ask the question, set by `want`, and put the answer. 0 or a negative code with a message, also where the
 * request's questions together take too long or have too many rows or bytes.
 */
int scribe_answer(struct scribe_serve *serve, const char *question, const struct scribe_answer_want *want,
		  yajl_gen json, struct scribe_err *err);
/* Ask, and have each row told, which puts it into `json`. */
int scribe_answer_rows(struct scribe_serve *serve, const char *question,
		       const struct scribe_answer_want *want, yajl_gen json, scribe_sql_row_fn *row,
		       void *ctx, struct scribe_err *err);

void scribe_json_string(yajl_gen json, const char *text);
/* "key": "text" */
void scribe_json_pair(yajl_gen json, const char *key, const char *text);

#endif
