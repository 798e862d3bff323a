/* SPDX-License-Identifier: BSD-3-Clause */
/* ioscribe serve: what its parts share. One thread answers, one request after the other. */
#ifndef UTIL_CMD_SERVE_SERVE_H
#define UTIL_CMD_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/store/question_folders.h"
#include "util/store/store.h"

#define SCRIBE_SERVE_TOKEN 257   /* bytes of a token, with NUL */
#define SCRIBE_SERVE_BODY  65536 /* bytes of a request */
/* Of a request, whatever number of questions it asks; others wait meanwhile. */
#define SCRIBE_SERVE_SECONDS 60
#define SCRIBE_SERVE_ROWS    200000
#define SCRIBE_SERVE_ANSWER  (64u << 20) /* bytes of JSON */

struct scribe_serve {
	struct scribe_store *store;
	const char *db; /* its place */
	bool stop;      /* set, atomically, when the server is to end: a question is given up */
	int64_t end_ms; /* of the request that is answered now */
	uint64_t rows;  /* told for it so far */
	char folders[SCRIBE_QUESTION_FOLDERS];
	char token[SCRIBE_SERVE_TOKEN];
};

#endif
