// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two processes, forked at start: the maker forks a child for each link, the closer closes duplicates of the
 * daemon's links. The last part runs in the daemon's main thread.
 */
#include "runtime/daemon/privsep/link_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/subprocess.h"

#define PLACES_MAX 4096u /* probe offsets per link */
#define GIVEN      3     /* descriptors: for the answer, program, file */
#define PAGE       4096u
#define END_MS     5000 /* wait for each process at the end */
#define NAP_US     5000 /* between receipt of a descriptor and its close */

struct wish {
	uint32_t n, at_return, deadline_ms, pad;
	uint64_t target[3 * PLACES_MAX]; /* offsets, cookies, semaphores: n of each, contiguous */
};

struct answer {
	int32_t rc, pad;
};

enum { MAKER, CLOSER, PROCESSES };

static struct scribe_subprocess process[PROCESSES] = {SCRIBE_NO_SUBPROCESS, SCRIBE_NO_SUBPROCESS};
static unsigned dropping; /* links that the closer has not confirmed */

/* -EAGAIN instead of blocking the event loop. */
static int send_all(int sock, const void *data, size_t bytes, const int *fd, size_t n)
{
	struct iovec iov = {(void *)(uintptr_t)data, bytes};
	char capacity[CMSG_SPACE(GIVEN * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = capacity,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = (struct cmsghdr *)capacity;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fd, n * sizeof(int));
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static ssize_t receive_all(int sock, void *data, size_t bytes, int *ret_fd, size_t n)
{
	struct iovec iov = {data, bytes};
	char capacity[CMSG_SPACE(GIVEN * sizeof(int))] __attribute__((aligned(8)));
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = capacity, .msg_controllen = CMSG_LEN(n * sizeof(int))};
	struct cmsghdr *c;
	ssize_t got;

	do
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	for (size_t i = 0; i < n; i++)
		ret_fd[i] = -1;
	c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(n * sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), n * sizeof(int));
	return got < 0 ? -errno : got;
}

/* `file` may be O_PATH. *ret_path stays valid while `file` is open. */
static int reopen(int file, char *ret_path, size_t cap)
{
	int fd;

	snprintf(ret_path, cap, "/proc/self/fd/%d", file);
	fd = open(ret_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* The kernel itself reads the pages of a file that the maker may not read. */
	return fd < 0 ? file : fd;
}

/* Reads the pages before the link is made, because the kernel reads them under a lock that every fork waits for. */
static int read_pages(int file, const struct scribe_link_plan *p)
{
	uint64_t last = UINT64_MAX;

	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t page = p->offset[i] / PAGE;
		char byte;

		if (page == last)
			continue;
		/* EBADF is from an O_PATH descriptor. */
		if (pread(file, &byte, 1, (off_t)(page * PAGE)) != 1 && errno != EBADF)
			return -EIO;
		last = page;
	}
	return 0;
}

static void make_one(const struct wish *w, const int *given)
{
	const struct itimerval end = {.it_value = {w->deadline_ms / 1000, w->deadline_ms % 1000 * 1000}};
	struct scribe_link_plan *p = scribe_link_plan_new(w->n);
	struct scribe_event_link none;
	struct answer a = {.rc = -ENOMEM};
	char path[64];
	int fd = -1;

	/*
	 * SIGALRM ends the child even in a wait that only fatal signals interrupt; the daemon then reports -ETIMEDOUT.
	 */
	signal(SIGALRM, SIG_DFL);
	setitimer(ITIMER_REAL, &end, NULL);
	if (p) {
		p->at_return = w->at_return;
		memcpy(p->offset, w->target, 3 * sizeof(uint64_t) * w->n);
		a.rc = read_pages(reopen(given[2], path, sizeof(path)), p);
	}
	if (a.rc == 0)
		a.rc = fd = scribe_link_make(p, NULL, given[1], path, &none);
	(void)scribe_helper_send(given[0], &a, sizeof(a), fd);
	_exit(0);
}

static bool is_good(const struct wish *w, ssize_t bytes)
{
	return bytes >= (ssize_t)offsetof(struct wish, target) && w->n && w->n <= PLACES_MAX &&
	       (size_t)bytes == offsetof(struct wish, target) + 3 * sizeof(uint64_t) * w->n;
}

static void make_links(int sock)
{
	static struct wish w;
	int given[GIVEN];

	for (;;) {
		struct pollfd p = {.fd = sock, .events = POLLIN};
		ssize_t bytes;

		while (poll(&p, 1, 1000) <= 0)
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		bytes = receive_all(sock, &w, sizeof(w), given, GIVEN);
		if (bytes <= 0)
			_exit(0);
		if (given[0] >= 0 && is_good(&w, bytes) && fork() == 0)
			make_one(&w, given);
		for (int i = 0; i < GIVEN; i++)
			if (given[i] >= 0)
				close(given[i]);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* The last close of a link waits for all processors, so it happens here. */
static void close_links(int sock)
{
	char word;
	int fd;

	while (receive_all(sock, &word, sizeof(word), &fd, 1) > 0) {
		usleep(NAP_US);
		if (fd >= 0)
			close(fd);
		if (scribe_helper_send(sock, &word, sizeof(word), -1) < 0)
			break;
	}
	_exit(0);
}

int scribe_linker_open(struct scribe_err *err)
{
	static const struct scribe_subprocess_plan plan[] = {
		[MAKER] = {.name = "ioscribed-links", .role = SCRIBE_PROCESS_LINKER, .serve = make_links},
		[CLOSER] = {.name = "ioscribed-close", .role = SCRIBE_PROCESS_LINKER, .serve = close_links},
	};
	int rc = 0;

	for (int i = 0; i < PROCESSES && rc == 0; i++)
		rc = scribe_subprocess_start(&process[i], &plan[i]);
	if (rc == 0)
		return 0;
	scribe_linker_close();
	return scribe_err_set(err, rc, "cannot start the process that makes links: %s", strerror(-rc));
}

void scribe_linker_close(void)
{
	for (int i = 0; i < PROCESSES; i++)
		scribe_subprocess_close(&process[i], END_MS);
	dropping = 0;
}

bool scribe_linker_is_there(void)
{
	return process[MAKER].sock >= 0 && process[CLOSER].sock >= 0;
}

/* Returns the socket for the answer, owned by the caller. */
static int ask(int file, int program, const struct scribe_link_plan *plan, uint32_t deadline_ms)
{
	static struct wish w;
	size_t bytes = 3 * sizeof(uint64_t) * plan->n;
	int pair[2], rc;

	if (plan->is_event || plan->n > PLACES_MAX)
		return -EINVAL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	w = (struct wish){.n = plan->n, .at_return = plan->at_return, .deadline_ms = deadline_ms};
	memcpy(w.target, plan->offset, bytes);
	rc = send_all(process[MAKER].sock, &w, offsetof(struct wish, target) + bytes, (int[]){pair[1], program, file},
		      GIVEN);
	close(pair[1]);
	if (rc == 0)
		return pair[0];
	close(pair[0]);
	return rc;
}

/* -EAGAIN: not yet. 0: *ret_fd is the link, which the caller closes or passes to drop(). */
static int answered(int sock, int *ret_fd)
{
	struct answer a = {0};
	int fd = -1, rc = scribe_helper_recv(sock, &a, sizeof(a), &fd, MSG_DONTWAIT);

	if (rc == 0 && a.rc < 0)
		rc = a.rc;
	if (rc == 0 && fd < 0)
		rc = -EPROTO;
	if (rc < 0 && fd >= 0)
		close(fd);
	if (rc == 0)
		*ret_fd = fd;
	/* The child exited at its deadline. */
	return rc == -EPIPE ? -ETIMEDOUT : rc;
}

static void drop(int fd)
{
	/* If the closer is missing or busy, close() waits here. */
	if (fd >= 0 && process[CLOSER].sock >= 0)
		dropping += send_all(process[CLOSER].sock, "", 1, &fd, 1) == 0;
	if (fd >= 0)
		close(fd);
}

/* A library's memory and files count as used until this returns 0. */
static unsigned still_dropping(void)
{
	ssize_t n = 1;
	char word;

	while (dropping && n > 0) {
		n = recv(process[CLOSER].sock, &word, sizeof(word), MSG_DONTWAIT);
		dropping -= n > 0;
	}
	/* The closer has exited, so its descriptors are closed. */
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		dropping = 0;
	return dropping;
}

const struct scribe_link_maker scribe_linker = {
	.ask = ask, .answered = answered, .drop = drop, .dropping = still_dropping};
