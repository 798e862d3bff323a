/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths that only a file system can tell: a hand of the job's user looks them
 * up. One that does not answer in time costs the job that file's links, and
 * keeps nobody else waiting.
 */
#ifndef RUNTIME_DAEMON_LOOK_H
#define RUNTIME_DAEMON_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/daemon/hand.h"

#define SCRIBE_LOOK_MS      200           /* for an answer */
#define SCRIBE_LOOK_REST_NS 5000000000ull /* after none; twice as long after each further one */
#define SCRIBE_LOOKS_MAX    8             /* hands that a job may lose so; then nobody is asked any more */

struct scribe_work;

/* Of a job; begins as zeros. */
struct scribe_look {
	bool has_hand;
	struct scribe_hand hand;
	unsigned lost;    /* hands that did not answer */
	uint64_t next_ns; /* not asked before */
	uint64_t missing; /* answers */
};

/* scribe_path_open_fn of `work`, a struct scribe_work. */
int scribe_look_open(void *work, int root_fd, const char *path, bool nofollow);
/*
 * A search (libs_search.h) by that hand: fn for each file. 1: the process may come to use any
 * library, 0: not; negative: nobody knows.
 */
struct scribe_search;
int scribe_look_search(struct scribe_work *w, const struct scribe_search *s, int ms,
		       void (*fn)(void *ctx, const struct scribe_hand_found *f, int fd), void *ctx);
void scribe_look_end(struct scribe_work *w);

#endif
