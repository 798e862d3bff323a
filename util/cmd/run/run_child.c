// SPDX-License-Identifier: BSD-3-Clause
/*
 * CMD of `ioscribe run`: held before exec until its enrolment, with the invoking user's identity and environment. A
 * second pipe carries errno if exec fails. Signals are forwarded. Must not know logs.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/preload.h"
#include "util/cmd/run/run_parts.h"

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static struct sigaction inherited[sizeof(forwarded) / sizeof(forwarded[0])];
static volatile sig_atomic_t forward_to;

static void preload(const char *library)
{
	const char *preloads = getenv("LD_PRELOAD");
	char *both;

	if (!preloads || !preloads[0]) {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	if (asprintf(&both, "%s:%s", library, preloads) < 0)
		return;
	setenv("LD_PRELOAD", both, 1);
	free(both);
}

static void preload_inside(const struct scribe_run *r)
{
	const char *slash = strrchr(r->library, '/');
	char path[SCRIBE_PATH_MAX];

	if (slash && r->wrap &&
	    snprintf(path, sizeof(path), "%.*s/libioscribe-inside.so", (int)(slash - r->library), r->library) <
		    (int)sizeof(path) &&
	    access(path, R_OK) == 0)
		preload(path);
}

static void sanitizers(void)
{
	const char *users = getenv("ASAN_OPTIONS");
	/*
	 * AddressSanitizer aborts unless its library is loaded first. Ours answers that check
	 * (runtime/client/mpi/interpose.c), but a program may override it. The user's options come last and win.
	 */
	char *both;

	if (asprintf(&both, "verify_asan_link_order=0%s%s", users && users[0] ? ":" : "", users ? users : "") < 0)
		return;
	setenv("ASAN_OPTIONS", both, 1);
	free(both);
}

static void environment(const struct scribe_run *r)
{
	char job[16];

	if (r->drop) {
		if (r->home[0])
			setenv("HOME", r->home, 1);
		setenv("USER", r->user, 1);
		setenv("LOGNAME", r->user, 1);
	}
	if (r->link < 0)
		return;
	snprintf(job, sizeof(job), "%u", r->job);
	setenv(SCRIBE_ENV_JOB, job, 1);
	if (!r->socket[0] || r->no_runtime)
		return;
	setenv(SCRIBE_ENV_SOCKET, r->socket, 1);
	/* For an unreadable library the loader would print an error on CMD's stderr. */
	if (r->library[0] && access(r->library, R_OK) == 0) {
		preload(r->library);
		preload_inside(r);
		if (r->no_streams)
			setenv(SCRIBE_ENV_STREAMS, "0", 1);
		sanitizers();
	}
}

int scribe_run_take_identity(const struct scribe_run *r)
{
	if (!r->drop)
		return 0;
	/* Groups first: without root's uid they can no longer be changed. */
	if (initgroups(r->user, r->gid) < 0 || setresgid(r->gid, r->gid, r->gid) < 0 ||
	    setresuid(r->uid, r->uid, r->uid) < 0)
		return -errno;
	return 0;
}

static void child(struct scribe_run *r, int go, int failure)
{
	int rc = scribe_run_take_identity(r);
	char byte;

	environment(r);
	while (rc == 0) {
		ssize_t n = read(go, &byte, 1);

		if (n == 1)
			break;
		if (n == 0 || errno != EINTR)
			_exit(125); /* the pipe closed without a byte: ioscribe exited or gave up */
	}
	if (rc == 0) {
		char *capacity[scribe_preload_room(r->cmd[0], true, environ)];

		execvpe(r->cmd[0], r->cmd,
			scribe_preload_without(environ, capacity, sizeof(capacity) / sizeof(capacity[0])));
		rc = -errno;
	}
	rc = -rc;
	if (write(failure, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(rc == ENOENT ? 127 : 126);
}

/* The caller closes both descriptors. */
int scribe_run_child_fork(struct scribe_run *r, pid_t *ret_pid, int *ret_go, int *ret_failure, struct scribe_err *err)
{
	int go[2], failure[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return scribe_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(failure, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return scribe_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(failure[0]);
		child(r, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	if (pid < 0) {
		close(go[1]);
		close(failure[0]);
		return scribe_err_set(err, -EAGAIN, "cannot fork: %s", strerror(errno));
	}
	*ret_pid = pid;
	*ret_go = go[1];
	*ret_failure = failure[0];
	return 0;
}

/* 0: exec succeeded, which closed the pipe; otherwise its errno. */
int scribe_run_child_failure(int failure_fd)
{
	int code = 0;
	ssize_t n;

	do
		n = read(failure_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? code : 0;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/*
	 * si_code > 0 is the kernel: a terminal's signal reaches the whole foreground group, CMD included, and
	 * forwarding would deliver it twice. A signal from a process is meant for CMD.
	 */
	if (forward_to > 0 && info->si_code <= 0 && info->si_pid != forward_to)
		kill((pid_t)forward_to, number);
	errno = saved;
}

void scribe_run_child_signals(pid_t pid)
{
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	forward_to = pid;
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++) {
		sigaction(forwarded[i], NULL, &inherited[i]);
		/* A signal that nohup set to ignored stays ignored. */
		if (inherited[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &a, NULL);
	}
}

int scribe_run_child_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	forward_to = 0;
	return status;
}
