/* SPDX-License-Identifier: BSD-3-Clause */
/* ioscribe serve: what its parts share. One thread answers, one request after the other. */
#ifndef UTIL_CMD_SERVE_SERVE_H
#define UTIL_CMD_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/store/question_folders.h"
#include "util/store/store.h"

#define SCRIBE_SERVE_TOKEN 257   /* bytes of a token, with NUL */
#define SCRIBE_SERVE_BODY  65536 /* bytes of a request */
#define SCRIBE_SERVE_LIMIT 60000 /* ms for an analysis in Python: others wait meanwhile */

struct scribe_serve {
	struct scribe_store *store;
	const char *db; /* its place */
	bool stop;      /* set, atomically, when the server is to end: an analysis is given up */
	char folders[SCRIBE_QUESTION_FOLDERS];
	char token[SCRIBE_SERVE_TOKEN];
};

#endif
