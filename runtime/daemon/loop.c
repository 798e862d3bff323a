/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop. The kernel does not wake the daemon an event: the ring is
 * polled every few milliseconds while anything happens, more seldom in peace.
 * It does where slots or room for names run low.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include "runtime/daemon/daemon.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/service.h"
#include "runtime/daemon/streams.h"

#define POLL_BUSY_MS  2
#define POLL_QUIET_MS 20
#define SWEEP_NS      500000000ull

uint64_t scribe_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int scribe_loop_watch(struct scribe_daemon *d, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

void scribe_loop_watch_out(struct scribe_daemon *d, int fd, void *what, bool out)
{
	struct epoll_event e = {.events = out ? EPOLLOUT : EPOLLIN, .data.ptr = what};

	(void)epoll_ctl(d->epoll, EPOLL_CTL_MOD, fd, &e);
}

void scribe_loop_watch_kernel(struct scribe_daemon *d)
{
	/* by edge: the ring is mostly not empty, and only when the programs wake us is it urgent */
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = &d->bpf};

	(void)epoll_ctl(d->epoll, EPOLL_CTL_ADD, scribe_bpf_events_fd(d->bpf), &e);
}

static void dispatch(struct scribe_daemon *d, void *what)
{
	if (what == &d->bpf)
		return; /* events are taken in each turn */
	if (what == &d->listen)
		scribe_clients_accept(d);
	else
		scribe_clients_serve(d, what);
}

int scribe_loop_turn(struct scribe_daemon *d, struct scribe_pace *pace)
{
	struct epoll_event e[32];
	int idle_ms = d->service ? scribe_service_tick(d) : -1;
	int n = epoll_wait(d->epoll, e, 32, d->works ? pace->wait_ms : d->quit ? 0 : idle_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n; i++)
		dispatch(d, e[i].data.ptr);
	if (!d->works) {
		scribe_clients_serve_all(d);
		scribe_works_tick(d);
		return 0;
	}
	if (scribe_events_take(d) > 0)
		pace->wait_ms = POLL_BUSY_MS;
	else if (pace->wait_ms < POLL_QUIET_MS)
		pace->wait_ms++;
	if (scribe_now_ns() >= pace->next_sweep_ns) {
		scribe_events_sweep(d);
		scribe_runlink_sweep(d);
		scribe_libs_guard(d);
		scribe_libs_sweep(d);
		scribe_streams_sweep(d);
		pace->next_sweep_ns = scribe_now_ns() + SWEEP_NS;
	}
	scribe_clients_serve_all(d);
	scribe_works_tick(d);
	if (d->hurry)
		pace->wait_ms = POLL_BUSY_MS;
	return 0;
}

int scribe_loop(struct scribe_daemon *d)
{
	struct scribe_pace pace = {.next_sweep_ns = scribe_now_ns() + SWEEP_NS, .wait_ms = POLL_BUSY_MS};
	int rc = 0;

	while (!d->quit && rc == 0)
		rc = scribe_loop_turn(d, &pace);
	return rc;
}
