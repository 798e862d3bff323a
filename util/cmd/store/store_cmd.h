/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_STORE_STORE_CMD_H
#define UTIL_CMD_STORE_STORE_CMD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event_json.h"
#include "util/store/store.h"

/* argv as given to `ioscribe store`. Returns the exit status. */
int scribe_store_main(int argc, char **argv);

struct scribe_feed {
	const char *argv0;
	struct scribe_store *store;
	struct scribe_event_json *json;
	struct scribe_sample_json *samples;
	bool follow;
	int64_t stream_uid; /* trusted besides root and the store's user; -1: none */
	int64_t keep_days;  /* 0: keep all; otherwise `forget` is called every hour */
	int (*forget)(struct scribe_store *store, int64_t days, struct scribe_err *err);
	uint64_t bad_lines;
	bool failed;
	/* Set by a signal: end after storing what was read. */
	volatile sig_atomic_t *stop;
};

/* Stores JSON lines from files, "-", pipes and sockets ("unix:PATH") until all have ended, or *stop. */
int scribe_feed_lines(struct scribe_feed *f, char **inputs, int n, struct scribe_err *err);

bool scribe_feed_is_log(const char *path);
/* Stores the traced operations of a finished log, unless they are stored already. */
int scribe_feed_log(struct scribe_feed *f, const char *path, struct scribe_err *err);

#endif
