/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of ioscribe-serve. Each connection has a thread. */
#ifndef UTIL_CMD_SERVE_SERVE_H
#define UTIL_CMD_SERVE_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/cmd/serve/users.h"
#include "util/store/question_folders.h"
#include "util/store/store.h"

/* Limits of one request. */
#define SCRIBE_SERVE_SECONDS 60
#define SCRIBE_SERVE_ROWS    200000
#define SCRIBE_SERVE_ANSWER  (64u << 20)
/* Questions at a time, each with a connection to the store; of one user half. */
#define SCRIBE_SERVE_ASKING 8

struct scribe_serve_slot {
	struct scribe_store *store; /* NULL: not open */
	int64_t uid, used_ms;
	bool busy;
};

struct scribe_serve {
	const char *db;   /* path or URL of the store */
	const char *logs; /* directory; NULL: none */
	bool stop;        /* atomic; the server ends, and running questions are aborted */
	char folders[SCRIBE_QUESTION_FOLDERS];
	struct scribe_serve_users users;
	pthread_mutex_t lock; /* of slots */
	pthread_cond_t given;
	struct scribe_serve_slot slots[SCRIBE_SERVE_ASKING];
	/* Held while a process is started and runs: an analysis ends with all children of the server. */
	pthread_mutex_t processes;
};

struct scribe_serve_request {
	int64_t uid; /* sees only this user's jobs; or SCRIBE_SERVE_ALL */
	struct scribe_sql_limit limit;
};

#endif
