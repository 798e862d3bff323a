// SPDX-License-Identifier: BSD-3-Clause
/*
 * CMD of `ioscribe run`: forked and held before exec, given the invoking user's identity and its
 * environment, let go by a byte in a pipe once it is enrolled, waited for. A second pipe, closed by
 * exec, carries errno where exec fails. Signals that are sent to ioscribe are forwarded. Must not
 * know: logs.
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

/* Signals that end, wake or inform a program; those of the terminal are handled in on_signal. */
static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
				SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static struct sigaction inherited[sizeof(forwarded) / sizeof(forwarded[0])];
static volatile sig_atomic_t forward_to;

/* Ours in front of what is there. */
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

/* The library that counts calls stands beside the runtime. */
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

/*
 * A program with AddressSanitizer wants to have its own library in front. Ours says otherwise
 * (runtime/client/mpi/interpose.c), but a program may answer that question itself. What the user
 * has set comes behind it, and wins.
 */
static void sanitizers(void)
{
	const char *users = getenv("ASAN_OPTIONS");
	char *both;

	if (asprintf(&both, "verify_asan_link_order=0%s%s", users && users[0] ? ":" : "", users ? users : "") < 0)
		return;
	setenv("ASAN_OPTIONS", both, 1);
	free(both);
}

/* Runs in the child: ioscribe's own environment stays as it is. */
static void environment(const struct scribe_run *r)
{
	char job[16];

	if (r->drop) {
		/* sudo has put root's here */
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
	/* Where the user cannot read it, the loader would complain on CMD's stderr. */
	if (r->library[0] && access(r->library, R_OK) == 0) {
		preload(r->library);
		preload_inside(r);
		if (r->no_streams)
			setenv(SCRIBE_ENV_STREAMS, "0", 1);
		sanitizers();
	}
}

/* Groups first: they cannot be changed without privileges. */
static int take_identity(const struct scribe_run *r)
{
	if (!r->drop)
		return 0;
	if (initgroups(r->user, r->gid) < 0 || setresgid(r->gid, r->gid, r->gid) < 0 ||
	    setresuid(r->uid, r->uid, r->uid) < 0)
		return -errno;
	return 0;
}

/* Does not return. A pipe that ends without a byte means that ioscribe has ended or given up. */
static void child(struct scribe_run *r, int go, int failure)
{
	int rc = take_identity(r);
	char byte;

	environment(r);
	while (rc == 0) {
		ssize_t n = read(go, &byte, 1);

		if (n == 1)
			break;
		if (n == 0 || errno != EINTR)
			_exit(125); /* nobody lets it go */
	}
	if (rc == 0) {
		char *room[scribe_preload_room(r->cmd[0], true, environ)];

		execvpe(r->cmd[0], r->cmd, scribe_preload_without(environ, room, sizeof(room) / sizeof(room[0])));
		rc = -errno;
	}
	rc = -rc;
	if (write(failure, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(rc == ENOENT ? 127 : 126);
}

/*
 * *ret_go: write a byte to let CMD go; *ret_failure: read by scribe_run_child_failure. Both belong
 * to the caller.
 */
int scribe_run_child_fork(struct scribe_run *r, pid_t *ret_pid, int *ret_go, int *ret_failure,
			  struct scribe_err *err)
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

/* 0: exec has succeeded, which closed the pipe; else its errno. */
int scribe_run_child_failure(int failure_fd)
{
	int code = 0;
	ssize_t n;

	do
		n = read(failure_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? code : 0;
}

/*
 * What the terminal sends goes to the whole foreground group, CMD included:
 * forwarding it would deliver it twice. What a process sends is for CMD.
 */
static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
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
		/* what nohup and the like ignore stays ignored */
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
