/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's clock, waiting and its peers' credentials for fuzz_message.c (linked by --wrap); see kernel.h.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/fuzz/kernel.h"

#define START_NS 1000000000000ll
#define EPOCH_NS 1700000000000000000ll

int64_t fuzz_now_ns;
static struct ucred arriving[FUZZ_ARRIVING]; /* connected, not accepted yet: first in, first out */
static unsigned narriving;

void fuzz_calls_reset(void)
{
	fuzz_now_ns = START_NS;
	narriving = 0;
}

bool fuzz_calls_arriving(pid_t pid, uid_t uid)
{
	if (narriving == FUZZ_ARRIVING)
		return false;
	arriving[narriving++] = (struct ucred){pid, uid, uid};
	return true;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_epoll_wait(int fd, struct epoll_event *e, int n, int timeout_ms);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __real_epoll_wait(int fd, struct epoll_event *e, int n, int timeout_ms);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int64_t now = fuzz_now_ns + (clock == CLOCK_REALTIME ? EPOCH_NS : 0);

	fuzz_now_ns += 100;
	ts->tv_sec = now / 1000000000;
	ts->tv_nsec = now % 1000000000;
	return 0;
}

/* The daemon waits for no peer. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (timeout_ms != 0)
		abort();
	return 0;
}

int __wrap_epoll_wait(int fd, struct epoll_event *e, int n, int timeout_ms)
{
	int got = __real_epoll_wait(fd, e, n, 0);

	if (got == 0 && timeout_ms > 0)
		fuzz_now_ns += (int64_t)timeout_ms * 1000000;
	return got;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (level != SOL_SOCKET || name != SO_PEERCRED)
		return __real_getsockopt(fd, level, name, value, len);
	if (!narriving)
		abort();
	memcpy(value, &arriving[0], sizeof(arriving[0]));
	memmove(&arriving[0], &arriving[1], --narriving * sizeof(arriving[0]));
	return 0;
}

/* The kernel has always something to say. */
bool scribe_bpf_sleeps(struct scribe_bpf *b)
{
	return false;
}

void scribe_bpf_wakes(struct scribe_bpf *b)
{
}
