/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of ioscribe-serve. One thread handles all requests. */
#ifndef UTIL_CMD_SERVE_SERVE_H
#define UTIL_CMD_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/store/question_folders.h"
#include "util/store/store.h"

#define SCRIBE_SERVE_TOKEN 257
/* Limits of one request; other requests wait meanwhile. */
#define SCRIBE_SERVE_SECONDS 60
#define SCRIBE_SERVE_ROWS    200000
#define SCRIBE_SERVE_ANSWER  (64u << 20)

struct scribe_serve {
	struct scribe_store *store;
	const char *db;   /* path or URL of the store */
	const char *logs; /* directory; NULL: none */
	bool stop;        /* atomic; the server ends, and a running question is aborted */
	int64_t end_ms;
	char folders[SCRIBE_QUESTION_FOLDERS];
	char token[SCRIBE_SERVE_TOKEN];
};

#endif
