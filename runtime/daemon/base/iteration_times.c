/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wall time, processor time and run-queue time of loop iterations, as metrics. Must not know what
 * is done in an iteration.
 */
#include "runtime/daemon/base/iteration_times.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Reading both times costs as much as a short iteration, so they are read at most this often. */
#define READ_NS 5000000ull

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Total run-queue time of this thread; 0: not available. */
static uint64_t queued(struct scribe_iterations *t)
{
	unsigned long long on, waited;
	char text[96];
	ssize_t n;

	if (!t->schedstat) {
		t->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
		t->schedstat = t->schedstat > 0 ? t->schedstat : -1;
	}
	n = t->schedstat > 0 ? pread(t->schedstat, text, sizeof(text) - 1, 0) : -1;
	if (n <= 0)
		return 0;
	text[n] = 0;
	return sscanf(text, "%llu %llu", &on, &waited) == 2 ? waited : 0;
}

void scribe_iterations_close(struct scribe_iterations *t)
{
	if (t->schedstat > 0)
		close(t->schedstat);
	t->schedstat = -1;
}

void scribe_iterations_begin(struct scribe_iterations *t)
{
	t->begun_ns = t->part_since_ns = clock_ns(CLOCK_MONOTONIC);
	if (t->begun_ns - t->read_ns > READ_NS) {
		t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		t->queued_ns = queued(t);
		t->read_ns = t->begun_ns;
	}
	t->now = (struct scribe_iteration){0};
}

void scribe_iterations_share(struct scribe_iterations *t, enum scribe_iteration_share share)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	t->now.part_ns[share] += now - t->part_since_ns;
	t->part_since_ns = now;
}

uint64_t scribe_iteration_own_ns(const struct scribe_iteration *t)
{
	/* The reading may be up to READ_NS old, and so include earlier waiting. */
	uint64_t waited_ns = t->queued_ns < t->wall_ns ? t->queued_ns : t->wall_ns;

	return t->wall_ns - waited_ns;
}

void scribe_iterations_end(struct scribe_iterations *t)
{
	struct scribe_iteration *now = &t->now;

	if (!t->begun_ns)
		return;
	now->wall_ns = clock_ns(CLOCK_MONOTONIC) - t->begun_ns;
	t->begun_ns = 0;
	t->n++;
	if (now->wall_ns > READ_NS) {
		now->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu_ns;
		now->queued_ns = queued(t) - t->queued_ns;
		t->read_ns = 0; /* read both again in the next iteration */
	}
	t->long_iterations += scribe_iteration_own_ns(now) > SCRIBE_ITERATION_LONG_NS;
	if (now->wall_ns > t->longest_wall_ns)
		t->longest_wall_ns = now->wall_ns;
	if (scribe_iteration_own_ns(now) > scribe_iteration_own_ns(&t->longest))
		t->longest = *now;
}

const char *scribe_iteration_mostly(const struct scribe_iteration *t)
{
	static const char *const names[] = {
#define SCRIBE_X(id, name) name,
		SCRIBE_ITERATION_PARTS(SCRIBE_X)
#undef SCRIBE_X
	};
	int most = 0;

	for (int i = 1; i < SCRIBE_ITERATION_NPARTS; i++)
		if (t->part_ns[i] > t->part_ns[most])
			most = i;
	return names[most];
}
