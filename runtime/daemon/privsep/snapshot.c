// SPDX-License-Identifier: BSD-3-Clause
/*
 * Snapshots: a forked copy of the daemon that computes on the memory as it was and writes to given
 * descriptors; see snapshot.h. Log builders are such copies. The copy closes everything else, gives
 * up all capabilities and most system calls, and ends at limits of processor and wall time. Its
 * answer is one packet on a socket pair, read when the process has ended. At most
 * SCRIBE_SNAPSHOTS_MAX exist at a time; fork's copy-on-write bounds the memory by what the daemon
 * changes meanwhile.
 */
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

static pid_t left[SCRIBE_SNAPSHOTS_MAX]; /* stopped, and not ended yet */
static unsigned at_work;                 /* those among them */
static double cpu;                       /* of those that have ended, in seconds */

/* ---- in the copy ---- */

/* For qsort(); descriptors are small, so that the difference does not overflow. */
static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Everything but these is closed: maps, sockets, journals. The gaps between the kept descriptors
 * are closed by close_range(), from 0 on.
 */
static int close_others(const int *fds, size_t n, int sock)
{
	int kept[SCRIBE_SNAPSHOT_FDS + 2] = {STDERR_FILENO, sock};
	size_t nkept = 2;
	unsigned from = 0;

	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			kept[nkept++] = fds[i];
	qsort(kept, nkept, sizeof(*kept), by_number);
	for (size_t i = 0; i < nkept; i++) {
		if ((unsigned)kept[i] > from && close_range(from, (unsigned)kept[i] - 1, 0) < 0)
			return -errno;
		from = (unsigned)kept[i] + 1;
	}
	return close_range(from, ~0u, 0) < 0 ? -errno : 0;
}

/*
 * The parent is compared after PR_SET_PDEATHSIG: a daemon that died before it would never send the
 * signal.
 */
static int give_up_all(pid_t parent, const int *fds, size_t n, int sock)
{
	const struct rlimit seconds = {SCRIBE_SNAPSHOT_CPU_S, SCRIBE_SNAPSHOT_CPU_S};
	const struct itimerval wall = {.it_value.tv_sec = SCRIBE_SNAPSHOT_WALL_S};
	struct scribe_err err;
	int rc;

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

/* A packet: what fn has returned, then, aligned for anything, its answer. */
#define HEADER 16

/* Without memory nothing is sent: the daemon sees -EPIPE. */
static void work(int sock, scribe_snapshot_fn fn, void *ctx, size_t answer_bytes)
{
	char *packet = calloc(1, HEADER + answer_bytes);
	int rc;

	if (!packet)
		return;
	rc = fn(ctx, packet + HEADER);
	memcpy(packet, &rc, sizeof(rc));
	(void)send(sock, packet, HEADER + answer_bytes, MSG_NOSIGNAL);
}

/* ---- in the daemon ---- */

/* Reaps it, too. An error of wait4() counts as ended: there is nothing to wait for. */
static bool has_ended(pid_t pid)
{
	struct rusage used = {0};

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

/*
 * -EAGAIN is reserved for "too many at work"; fork's own EAGAIN becomes -ENOMEM. The copy exits by
 * _exit(): exit handlers and buffered output are the daemon's.
 */
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
	s->pid = fork();
	if (s->pid < 0) {
		int rc = errno == EAGAIN ? -ENOMEM : -errno; /* it is no matter of those at work */

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
		_exit(0);
	}
	close(ends[1]);
	s->sock = ends[0];
	at_work++;
	return 0;
}

/* The whole packet of rc and answer; a call that was refused is said. */
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

/*
 * It is not killed: closing the socket is enough, and its limits end it. Until then its process id
 * is remembered here, to be reaped.
 */
void scribe_snapshot_stop(struct scribe_snapshot *s)
{
	if (!s->pid)
		return;
	close(s->sock);
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
