/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations of loop iterations, in which no other request is served; without time spent waiting for a processor. */
#ifndef RUNTIME_DAEMON_BASE_TURN_TIMES_H
#define RUNTIME_DAEMON_BASE_TURN_TIMES_H

#include <stdint.h>

#define SCRIBE_TURN_LONG_NS 50000000ull

/* Parts of an iteration; the longest iteration is reported with its largest part. */
#define SCRIBE_TURN_PARTS(X)                                                                                 \
	X(ACCEPT, "connections") X(SERVE, "messages") X(EVENTS, "events") X(SWEEP, "sweep") X(WORKS, "jobs") \
	X(ENDS, "ended processes") X(COMMIT, "last records") X(BUILD, "logs") \
	X(FREE, "freeing jobs") X(LIVE, "looks")

enum scribe_turn_share {
#define SCRIBE_X(id, name) SCRIBE_TURN_##id,
	SCRIBE_TURN_PARTS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_TURN_NPARTS
};

struct scribe_turn {
	uint64_t wall_ns, cpu_ns, queued_ns; /* queued: runnable without a processor */
	uint64_t part_ns[SCRIBE_TURN_NPARTS];
};

struct scribe_turns {
	int schedstat; /* descriptor; 0: not open yet, -1: unavailable */
	uint64_t n, long_turns;           /* in total; own time above SCRIBE_TURN_LONG_NS */
	struct scribe_turn longest; /* by own time */
	uint64_t longest_wall_ns;
	struct scribe_turn now;
	uint64_t begun_ns, part_since_ns;
	uint64_t read_ns, cpu_ns, queued_ns; /* time and values of the last reading */
};

/* After the wait for events. */
void scribe_turns_begin(struct scribe_turns *t);
/* The current part has ended. */
void scribe_turns_share(struct scribe_turns *t, enum scribe_turn_share share);
void scribe_turns_end(struct scribe_turns *t);
void scribe_turns_close(struct scribe_turns *t);
/* Wall time without time spent waiting for a processor. */
uint64_t scribe_turn_own_ns(const struct scribe_turn *t);
/* Name of its largest part. */
const char *scribe_turn_mostly(const struct scribe_turn *t);

#endif
