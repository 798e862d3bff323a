/* SPDX-License-Identifier: BSD-3-Clause */
/* Without time spent waiting for a processor. */
#ifndef RUNTIME_DAEMON_BASE_ITERATION_TIMES_H
#define RUNTIME_DAEMON_BASE_ITERATION_TIMES_H

#include <stdint.h>

#define SCRIBE_ITERATION_LONG_NS 50000000ull

/* The longest iteration is reported with its largest part. */
#define SCRIBE_ITERATION_PARTS(X) \
	X(ACCEPT, "connections") \
	X(SERVE, "messages") \
	X(EVENTS, "events") \
	X(SWEEP, "sweep") \
	X(WORKS, "jobs") \
	X(ENDS, "ended processes") \
	X(COMMIT, "last records") \
	X(BUILD, "logs") \
	X(FREE, "freeing jobs") \
	X(LIVE, "looks")

enum scribe_iteration_share {
#define SCRIBE_X(id, name) SCRIBE_ITERATION_##id,
	SCRIBE_ITERATION_PARTS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_ITERATION_NPARTS
};

struct scribe_iteration {
	uint64_t wall_ns, cpu_ns, queued_ns; /* queued: runnable without a processor */
	uint64_t part_ns[SCRIBE_ITERATION_NPARTS];
};

struct scribe_iterations {
	int schedstat;                   /* descriptor; 0: not open yet, -1: unavailable */
	uint64_t n, long_iterations;     /* in total; own time above SCRIBE_ITERATION_LONG_NS */
	struct scribe_iteration longest; /* by own time */
	uint64_t longest_wall_ns;
	struct scribe_iteration now;
	uint64_t begun_ns, part_since_ns;
	uint64_t read_ns, cpu_ns, queued_ns; /* time and values of the last reading */
};

/* After the wait for events. */
void scribe_iterations_begin(struct scribe_iterations *t);
/* The current part has ended. */
void scribe_iterations_share(struct scribe_iterations *t, enum scribe_iteration_share share);
void scribe_iterations_end(struct scribe_iterations *t);
void scribe_iterations_close(struct scribe_iterations *t);
uint64_t scribe_iteration_own_ns(const struct scribe_iteration *t);
/* Name of its largest part. */
const char *scribe_iteration_mostly(const struct scribe_iteration *t);

#endif
