/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_ANSWER_H
#define UTIL_CMD_SERVE_ANSWER_H

#include <yajl/yajl_gen.h>

#include "util/cmd/serve/serve.h"
#include "util/store/question.h"

struct scribe_answer_want {
	/* Value of a parameter, or NULL; values of module and rank also filter rows. */
	const char *(*value)(void *ctx, const char *name);
	void *ctx;
};

/* Runs the question and writes its result. Negative also when the request exceeds its time, rows or bytes. */
int scribe_answer(struct scribe_serve *serve, const struct scribe_serve_request *r, const char *question,
		  const struct scribe_answer_want *want, yajl_gen json, struct scribe_err *err);

void scribe_answer_string(yajl_gen json, const char *text);
void scribe_json_pair(yajl_gen json, const char *key, const char *text);

#endif
