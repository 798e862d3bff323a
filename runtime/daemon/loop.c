/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop. The event ring is polled every few milliseconds, less often when quiet; the kernel wakes the
 * daemon only if slots or name buffers run low, or if it sleeps. Nothing may block.
 */
#include "runtime/daemon/loop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/control/attach_session.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/live_session.h"
#include "runtime/daemon/control/run_session.h"
#include "runtime/daemon/control/server.h"
#include "runtime/daemon/control/trace_session.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/events/events.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/metrics.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/daemon.h"

/* Poll interval; without events it grows by 1 ms per iteration up to POLL_QUIET_MS. */
#define POLL_BUSY_MS          2
#define POLL_QUIET_MS         20
#define SLEEP_MS              1000
#define SLEEP_ITERATIONS      50
#define DRAIN_NS              20000000ull /* per iteration, for records of ended processes */
#define REPORTED_ITERATION_NS 100000000ull
#define SWEEP_NS              500000000ull /* between sweeps for lost exits */

static void dispatch(struct scribe_daemon *d, void *what)
{
	if (what == &d->bpf)
		return; /* events are taken in each iteration */
	if (what == &d->listen) {
		scribe_clients_accept(d);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_ACCEPT);
		return;
	}
	scribe_clients_serve(d, what);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_SERVE);
}

static void serve_and_tick(struct scribe_daemon *d)
{
	d->poll_fast = d->poll_now = false;
	/* Connections first: a message may end a job, and its next step follows at once. */
	scribe_clients_serve_all(d);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_SERVE);
	scribe_live_session_tick(d);
	scribe_metrics_tick(d);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_LIVE);
	scribe_user_tick(d);
	scribe_trace_session_tick(d);
	scribe_segments_publish(d);
	scribe_jobs_tick(d);
	scribe_attach_session_tick(d);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_WORKS);
}

static void sweep(struct scribe_daemon *d)
{
	scribe_events_sweep(d);
	scribe_runlink_sweep(d);
	scribe_libs_sweep(d);
	scribe_shm_counters_sweep(d);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_SWEEP);
}

static bool is_quiet(const struct scribe_daemon *d)
{
	for (const struct scribe_job *job = d->jobs; job; job = job->next)
		if (job->state < SCRIBE_JOB_OVER && (job->state >= SCRIBE_JOB_ENDING || job->segments ||
						     job->publishing || scribe_file_xattrs_busy(job)))
			return false;
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		if (!scribe_client_is_idle(c))
			return false;
	return !d->asked_to_end && !(d->spool && scribe_spool_busy(d->spool));
}

/* In ms. */
static int time_to_wait(struct scribe_daemon *d, const struct scribe_pace *pace, int idle_ms)
{
	if (!d->jobs)
		return d->quit ? 0 : d->spool && scribe_spool_busy(d->spool) ? POLL_QUIET_MS : idle_ms;
	if (!d->bpf || pace->quiet_iterations < SLEEP_ITERATIONS || !is_quiet(d))
		return pace->wait_ms;
	/* Sleeping is announced to the kernel programs first; false: an event came in between. */
	if (!scribe_bpf_sleeps(d->bpf))
		return 0;
	return idle_ms >= 0 && idle_ms < SLEEP_MS ? idle_ms : SLEEP_MS;
}

/* Reports an iteration that is longer than all before. */
static void end_iteration(struct scribe_daemon *d)
{
	struct scribe_iterations *t = &d->iterations;
	uint64_t longest_ns = scribe_iteration_own_ns(&t->longest), own_ns;

	scribe_iterations_end(t);
	own_ns = scribe_iteration_own_ns(&t->longest);
	if (d->service && own_ns > longest_ns && own_ns > REPORTED_ITERATION_NS)
		fprintf(stderr, "ioscribed: the main loop was busy for %llu ms, mostly with %s\n",
			(unsigned long long)own_ns / 1000000, scribe_iteration_mostly(&t->longest));
}

int scribe_loop_iteration(struct scribe_daemon *d, struct scribe_pace *pace)
{
	bool cut = false;
	struct epoll_event e[32];
	int idle_ms = pace->before_iteration ? pace->before_iteration(d) : -1;
	int n = epoll_wait(d->epoll, e, 32, time_to_wait(d, pace, idle_ms));

	if (d->bpf)
		scribe_bpf_wakes(d->bpf);
	scribe_calls_report();
	if (n < 0 && errno != EINTR)
		return -errno;
	scribe_iterations_begin(&d->iterations);
	d->drain_until_ns = scribe_now_ns() + DRAIN_NS;
	for (int i = 0; i < n; i++)
		dispatch(d, e[i].data.ptr);
	if (!d->jobs) {
		serve_and_tick(d);
		end_iteration(d);
		return 0;
	}
	/* Segments before events: their buffers are fewer and fill up sooner. */
	scribe_segments_take(d, false);
	pace->quiet_iterations = n > 0 ? 0 : pace->quiet_iterations + 1;
	if (scribe_events_take(d, SCRIBE_EVENTS_NS, &cut) > 0) {
		pace->wait_ms = cut ? 0 : POLL_BUSY_MS;
		pace->quiet_iterations = 0;
	} else if (pace->wait_ms < POLL_QUIET_MS) {
		pace->wait_ms++;
	}
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_EVENTS);
	/* A process with events still in the ring must not be taken for lost. */
	if (!cut && scribe_now_ns() >= pace->next_sweep_ns) {
		sweep(d);
		pace->next_sweep_ns = scribe_now_ns() + SWEEP_NS;
	}
	serve_and_tick(d);
	if (d->poll_now)
		pace->wait_ms = 0;
	else if (d->poll_fast && !cut)
		pace->wait_ms = POLL_BUSY_MS;
	if (d->poll_fast)
		pace->quiet_iterations = 0;
	end_iteration(d);
	return 0;
}

int scribe_loop(struct scribe_daemon *d, int (*before_iteration)(struct scribe_daemon *d))
{
	struct scribe_pace pace = {.next_sweep_ns = scribe_now_ns() + SWEEP_NS,
				   .wait_ms = POLL_BUSY_MS,
				   .before_iteration = before_iteration};
	int rc = 0;

	while (!d->quit && rc == 0)
		rc = scribe_loop_iteration(d, &pace);
	return rc;
}
