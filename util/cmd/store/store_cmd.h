/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of ioscribe store. */
#ifndef UTIL_CMD_STORE_STORE_CMD_H
#define UTIL_CMD_STORE_STORE_CMD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event_json.h"
#include "util/store/store.h"

/* The command line of ioscribe store; returns the exit status. */
int scribe_store_main(int argc, char **argv);

/* What the inputs of one run share. */
struct scribe_feed {
	const char *argv0;
	struct scribe_store *store;
	struct scribe_event_json *json;
	struct scribe_sample_json *samples;
	bool follow;
	int64_t stream_uid; /* whose connections speak for all users; -1: none but root's and this user's */
	int64_t keep_days; /* 0: for ever; else forget is called now and then */
	int (*forget)(struct scribe_store *store, int64_t days, struct scribe_err *err);
	uint64_t bad_lines;
	bool failed; /* an input could not be read; named already */
	/* set by a signal: end after what has been read */
	volatile sig_atomic_t *stop;
};

/*
 * Lines of JSON from files, standard input ("-"), pipes and sockets ("unix:PATH", listened at)
 * into the store until all have ended, or *stop. 0, or a negative code with a message.
 */
int scribe_feed_lines(struct scribe_feed *f, char **inputs, int n, struct scribe_err *err);

/* A finished log: its traced operations. Is the file one, by its first bytes? */
bool scribe_feed_is_log(const char *path);
int scribe_feed_log(struct scribe_feed *f, const char *path, struct scribe_err *err);

#endif
