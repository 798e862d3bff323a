// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls into a sink can hang. This thread makes none: it takes the signals, watches the ring for the job's end,
 * and exits the process if the main thread does not. Must not know sinks, nor what is sent.
 */
#include "util/cmd/publish/publish_guard.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/tool/command.h"

#define LOOK_NS     200000000
#define END_MS      8000 /* after the job's end or a signal; the main thread gives up after 5 s */
#define GONE_MS     65000
#define STACK_BYTES 262144

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct scribe_publish_ring *watched;
static const char *self, *sink;
static sigset_t signals;
static bool ends;

void scribe_publish_guard_watch(const struct scribe_publish_ring *ring)
{
	pthread_mutex_lock(&lock);
	watched = ring;
	pthread_mutex_unlock(&lock);
}

bool scribe_publish_guard_ends(void)
{
	return __atomic_load_n(&ends, __ATOMIC_ACQUIRE);
}

void scribe_publish_guard_end(void)
{
	__atomic_store_n(&ends, true, __ATOMIC_RELEASE);
}

static _Noreturn void end_process(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	/* Standard error may be a full pipe: the message must not block the exit. */
	if (poll(&p, 1, 0) > 0 && (p.revents & POLLOUT))
		scribe_complain(self, "the last operations are missing in %s: it hangs", sink);
	_exit(SCRIBE_EXIT_FAILED);
}

static void *guard(void *unused)
{
	const struct timespec often = {.tv_nsec = LOOK_NS};
	int64_t end_ms = 0, gone_ms = 0;

	for (;;) {
		const int64_t now = scribe_msg_now_ms();
		bool gone, ended;

		if (sigtimedwait(&signals, NULL, &often) > 0)
			scribe_publish_guard_end();
		ended = scribe_publish_guard_ends();
		pthread_mutex_lock(&lock);
		ended = ended || (watched && scribe_publish_ring_ended(watched));
		gone = watched ? !scribe_publish_ring_wait(watched, 0) : gone_ms > 0;
		pthread_mutex_unlock(&lock);
		/* Remembered, because the ring is closed after the job's end. */
		if (ended && !end_ms)
			end_ms = now;
		gone_ms = !gone ? 0 : gone_ms ? gone_ms : now;
		if ((end_ms && now - end_ms > END_MS) || (gone_ms && now - gone_ms > GONE_MS))
			end_process();
	}
	return NULL;
}

int scribe_publish_guard_start(const char *me, const char *name, const sigset_t *these, struct scribe_err *err)
{
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	self = me;
	sink = name;
	signals = *these;
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, guard, NULL);
	pthread_attr_destroy(&attr);
	return rc ? scribe_err_set(err, -rc, "cannot start a thread: %s", strerror(rc)) : 0;
}
