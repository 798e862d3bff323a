/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the loop's turns are: while one lasts everybody waits. Time in which the
 * thread was ready and other programs had the processors is not the turn's own.
 */
#ifndef RUNTIME_DAEMON_BASE_TURN_TIMES_H
#define RUNTIME_DAEMON_BASE_TURN_TIMES_H

#include <stdint.h>

#define SCRIBE_TURN_LONG_NS 50000000ull

/* What a turn is about; the longest is told with what took most of it. */
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
	uint64_t wall_ns, cpu_ns, queued_ns; /* queued: ready, without a processor */
	uint64_t part_ns[SCRIBE_TURN_NPARTS];
};

struct scribe_turns {
	int schedstat; /* of this thread; 0 not open, -1 there is none */
	uint64_t n, long_turns;           /* of all times; of these longer than SCRIBE_TURN_LONG_NS by themselves */
	struct scribe_turn longest; /* by itself: what it worked and what it waited for */
	uint64_t longest_wall_ns;   /* of any */
	struct scribe_turn now;
	uint64_t begun_ns, part_since_ns;
	uint64_t read_ns, cpu_ns, queued_ns; /* when both times were read last, and what they were */
};

/* A turn begins, behind the wait for something to do. */
void scribe_turns_begin(struct scribe_turns *t);
/* A share of it is over. */
void scribe_turns_share(struct scribe_turns *t, enum scribe_turn_share share);
void scribe_turns_end(struct scribe_turns *t);
/* No turn comes any more: its descriptor is closed. */
void scribe_turns_close(struct scribe_turns *t);
/* What a turn took by itself. */
uint64_t scribe_turn_own_ns(const struct scribe_turn *t);
/* What took most of it. */
const char *scribe_turn_mostly(const struct scribe_turn *t);

#endif
