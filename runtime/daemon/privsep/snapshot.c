// SPDX-License-Identifier: BSD-3-Clause
/* Forks copies of the daemon, for example as log builders. The answer is one packet, read after a copy has ended. */
#include "runtime/daemon/privsep/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/daemon/privsep/sandbox.h"

static pid_t left[SCRIBE_SNAPSHOTS_MAX]; /* stopped, but not ended yet */
static unsigned at_work;                 /* running, stopped ones included */
static double cpu;                       /* seconds, of those that have ended */

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Maps, sockets and journals of the daemon must not be reachable from the copy. */
static int close_others(const int *fds, size_t n, int sock)
{
	int kept[SCRIBE_SNAPSHOT_FDS + 2] = {STDERR_FILENO, sock};
	size_t nkept = 2;
	unsigned from = 0;

	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			kept[nkept++] = fds[i];
	qsort(kept, nkept, sizeof(*kept), by_number);
	/* close_range() for each gap between the descriptors that are kept. */
	for (size_t i = 0; i < nkept; i++) {
		if ((unsigned)kept[i] > from && close_range(from, (unsigned)kept[i] - 1, 0) < 0)
			return -errno;
		from = (unsigned)kept[i] + 1;
	}
	return close_range(from, ~0u, 0) < 0 ? -errno : 0;
}

static int give_up_all(pid_t parent, const int *fds, size_t n, int sock)
{
	const struct rlimit seconds = {SCRIBE_SNAPSHOT_CPU_S, SCRIBE_SNAPSHOT_CPU_S};
	const struct itimerval wall = {.it_value.tv_sec = SCRIBE_SNAPSHOT_WALL_S};
	struct scribe_err err;
	int rc;

	/* A daemon that died before PR_SET_PDEATHSIG sends no signal. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return -ESRCH;
	(void)prctl(PR_SET_NAME, "ioscribed-log");
	signal(SIGALRM, SIG_DFL);
	if (setrlimit(RLIMIT_CPU, &seconds) < 0 || setitimer(ITIMER_REAL, &wall, NULL) < 0)
		return -errno;
	rc = close_others(fds, n, sock);
	if (rc < 0)
		return rc;
	scribe_calls_socket(sock);
	return scribe_sandbox(SCRIBE_PROCESS_SNAPSHOT, &err);
}

/* In a packet before the answer: the result of fn; 16 bytes keep the answer aligned. */
#define HEADER 16

static void work(int sock, scribe_snapshot_fn fn, void *ctx, size_t answer_bytes)
{
	char *packet = calloc(1, HEADER + answer_bytes);
	int rc;

	/* Without a packet the daemon returns -EPIPE. */
	if (!packet)
		return;
	rc = fn(ctx, packet + HEADER);
	memcpy(packet, &rc, sizeof(rc));
	(void)send(sock, packet, HEADER + answer_bytes, MSG_NOSIGNAL);
}

static bool has_ended(pid_t pid)
{
	struct rusage used = {0};

	/* An error of wait4() counts as ended. */
	if (wait4(pid, NULL, WNOHANG, &used) == 0)
		return false;
	cpu += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	at_work--;
	return true;
}

void scribe_snapshots_reap(void)
{
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX; i++)
		if (left[i] && has_ended(left[i]))
			left[i] = 0;
}

int scribe_snapshot_start(struct scribe_snapshot *s, const int *fds, size_t nfds, scribe_snapshot_fn fn, void *ctx,
			  size_t answer_bytes)
{
	const pid_t self = getpid();
	int ends[2];

	scribe_snapshots_reap();
	if (at_work >= SCRIBE_SNAPSHOTS_MAX)
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	(void)scribe_calls_prepare(SCRIBE_PROCESS_SNAPSHOT);
	s->pid = fork();
	if (s->pid < 0) {
		/* EAGAIN would mean that too many snapshots are running. */
		int rc = errno == EAGAIN ? -ENOMEM : -errno;

		s->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return rc;
	}
	if (s->pid == 0) {
		int rc = give_up_all(self, fds, nfds, ends[1]);

		if (rc == 0)
			work(ends[1], fn, ctx, answer_bytes);
		else
			fprintf(stderr, "ioscribed: a copy of the daemon is not begun: %s\n", strerror(-rc));
		/* Not exit(): handlers and buffered output belong to the daemon. */
		_exit(0);
	}
	close(ends[1]);
	s->sock = ends[0];
	at_work++;
	return 0;
}

static int receive(int sock, void *answer, size_t answer_bytes)
{
	const struct scribe_refused_call *refused;
	char *packet = malloc(HEADER + answer_bytes);
	ssize_t n = packet ? recv(sock, packet, HEADER + answer_bytes, MSG_DONTWAIT) : -1;
	int rc = -EPIPE;

	refused = (const void *)packet;
	if (n == (ssize_t)(HEADER + answer_bytes)) {
		memcpy(&rc, packet, sizeof(rc));
		memcpy(answer, packet + HEADER, answer_bytes);
		rc = rc < 0 && rc >= -4095 ? rc : 0;
	} else if (n == (ssize_t)sizeof(*refused) && refused->magic == SCRIBE_REFUSED_CALL) {
		scribe_refused_calls_add(refused);
	}
	free(packet);
	return rc;
}

bool scribe_snapshot_answered(struct scribe_snapshot *s, void *answer, size_t answer_bytes, int *ret_rc)
{
	if (!has_ended(s->pid))
		return false;
	*ret_rc = receive(s->sock, answer, answer_bytes);
	close(s->sock);
	*s = (struct scribe_snapshot){0};
	return true;
}

void scribe_snapshot_stop(struct scribe_snapshot *s)
{
	if (!s->pid)
		return;
	close(s->sock);
	/* Not killed: its limits end it. Its process id is kept for scribe_snapshots_reap(). */
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX && !has_ended(s->pid); i++)
		if (!left[i]) {
			left[i] = s->pid;
			break;
		}
	*s = (struct scribe_snapshot){0};
}

double scribe_snapshots_cpu(void)
{
	return cpu;
}
