// SPDX-License-Identifier: BSD-3-Clause
/*
 * The daemon of `ioscribe run`: a private one on a socket pair, or the node's service. Every wait has a limit.
 * Must not know BPF.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/run/run_parts.h"
#include "util/link/installed.h"
#include "util/link/service_link.h"

#define LEAST_DATA     (8u << 20) /* bytes of RLIMIT_DATA; a daemon needs more */
#define START_MS       30000      /* the kernel verifies all programs */
#define ENROL_MS       10000
#define SERVICE_MS     2000  /* limit for connecting and enrolling together; CMD waits meanwhile */
#define ANSWER_MS      10000 /* of a service that continues the job */
#define AGAIN_MS       30000
#define END_MS         10000
#define LEAVE_MS       20
#define DAEMON_FD      3
#define EXIT_NO_DAEMON 127

int scribe_run_option(struct scribe_run *r, const char *key, const char *value, struct scribe_err *err)
{
	size_t capacity = sizeof(r->options) - r->options_bytes;
	int n;

	if (strchr(value, '\n'))
		return scribe_err_set(err, -EINVAL, "%s: a newline is not possible here", key);
	n = snprintf(r->options + r->options_bytes, capacity, "%s=%s\n", key, value);
	if (n < 0 || (size_t)n >= capacity)
		return scribe_err_set(err, -E2BIG, "the options are too long together");
	r->options_bytes += (size_t)n;
	return 0;
}

static void find_library(struct scribe_run *r, char *ret_path, size_t cap)
{
	static const char *const places[] = {"../lib/libioscribe.so",
					     "../lib/x86_64-linux-gnu/libioscribe.so",
					     "../lib/aarch64-linux-gnu/libioscribe.so",
					     "../lib64/libioscribe.so",
					     "libioscribe.so",
					     "../runtime/client/libioscribe.so",
					     NULL};

	(void)r;
	if (scribe_installed_find(places, ret_path, cap) < 0)
		ret_path[0] = 0;
}

/* The daemon's socket is descriptor 3, as its command line states. */
static int spawn(struct scribe_run *r, const char *path, struct scribe_err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return scribe_err_set(err, -errno, "cannot make a socket pair: %s", strerror(errno));
	r->daemon = fork();
	if (r->daemon < 0) {
		rc = scribe_err_set(err, -errno, "cannot fork: %s%s", strerror(errno),
				    errno == EAGAIN ? " (the limit of processes, ulimit -u?)" : "");
		close(pair[0]);
		close(pair[1]);
		return rc;
	}
	if (r->daemon == 0) {
		char *argv[] = {(char *)(uintptr_t)path,         "--private", "--fd", "3",
				r->verbose ? "--verbose" : NULL, NULL};

		/* A low data limit would stop the daemon at its start; CMD keeps the limit. */
		(void)setrlimit(RLIMIT_DATA, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
		/* Standard input and output belong to CMD. */
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 1);
		}
		if (pair[1] == DAEMON_FD ? fcntl(DAEMON_FD, F_SETFD, 0) : dup2(pair[1], DAEMON_FD))
			(void)0;
		execv(path, argv);
		_exit(EXIT_NO_DAEMON);
	}
	close(pair[1]);
	r->link = pair[0];
	return 0;
}

/* Receives one reply. -EAGAIN: the daemon is unable now (SCRIBE_ST_UNABLE); -EIO: refused; -EPIPE: exited. */
static int answer(struct scribe_run *r, unsigned want, void *ret_payload, size_t bytes, int timeout_ms,
		  struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	ssize_t n = scribe_msg_recv(r->link, packet, NULL, timeout_ms, err);

	if (n < 0)
		return (int)n;
	if (n == 0)
		return scribe_err_set(err, -EPIPE, "the daemon ended unexpectedly");
	if (h->type == SCRIBE_MSG_ERROR)
		return scribe_err_set(err, h->status == SCRIBE_ST_UNABLE ? -EAGAIN : -EIO, "%.*s", (int)h->len,
				      (const char *)(h + 1));
	if (h->type != want || h->len != bytes)
		return scribe_err_set(err, -EPROTO, "unexpected answer of the daemon (type %u)", h->type);
	memcpy(ret_payload, h + 1, bytes);
	return 0;
}

/* A library named by the user has precedence. */
static int add_library(struct scribe_run *r, struct scribe_err *err)
{
	if (!r->no_runtime && !r->library[0])
		find_library(r, r->library, sizeof(r->library));
	return r->library[0] ? scribe_run_option(r, "library", r->library, err) : 0;
}

static void take_ready(struct scribe_run *r, const struct scribe_msg_ready *ready)
{
	strcpy(r->socket, ready->socket);
	r->job = ready->job;
	r->wrap = ready->wrap == 1;
	r->no_streams = ready->no_streams == 1;
}

static int left_ms(const struct scribe_run *r)
{
	return scribe_msg_left_ms(r->until_ms);
}

static int late(struct scribe_err *err)
{
	return scribe_err_set(err, -ETIMEDOUT,
			      scribe_job_is_loading()
				      ? "the service at %s is loading its programs"
				      : "the service at %s does not answer: it is stopped, hangs, or is busy",
			      scribe_job_dir());
}

static int join(struct scribe_run *r, struct scribe_msg_ready *ret_ready, struct scribe_err *err)
{
	int sent = scribe_msg_send(r->link, SCRIBE_MSG_RUN_BEGIN, 0, r->options, r->options_bytes, -1, left_ms(r));
	int rc = sent;

	if (sent == 0 || sent == -EPIPE)
		rc = answer(r, SCRIBE_MSG_READY, ret_ready, sizeof(*ret_ready), left_ms(r), err);
	if (rc < 0 && sent < 0 && !err->text[0])
		scribe_err_set(err, rc, "the service does not listen: %s", strerror(-sent));
	return rc == -ETIMEDOUT ? late(err) : rc;
}

static int join_once(struct scribe_run *r, struct scribe_msg_ready *ret_ready, struct scribe_err *err)
{
	int rc;

	*err = (struct scribe_err){0};
	r->link = scribe_job_connect(r->until_ms, err);
	if (r->link < 0) {
		rc = r->link;
		r->link = -1;
		return rc;
	}
	rc = join(r, ret_ready, err);
	if (rc < 0)
		scribe_run_link_stop(r);
	return rc;
}

int scribe_run_link_join(struct scribe_run *r, struct scribe_err *err)
{
	static struct scribe_msg_ready ready;
	int rc = add_library(r, err);

	r->until_ms = scribe_msg_now_ms() + (r->service_ms ? r->service_ms : SERVICE_MS);
	if (rc == 0)
		rc = join_once(r, &ready, err);
	/* Closed without a reply: the service was exiting, and a successor may run. */
	if (rc == -EPIPE)
		rc = join_once(r, &ready, err);
	if (rc < 0)
		return rc;
	r->joined = true;
	r->survives = ready.survives == 1;
	take_ready(r, &ready);
	return 0;
}

int scribe_run_link_reattach(struct scribe_run *r, struct scribe_err *err)
{
	static struct scribe_msg_ready ready;
	const struct timespec nap = {.tv_nsec = 50000000};
	int64_t until = scribe_msg_now_ms() + AGAIN_MS;
	int rc;

	do {
		if (r->link >= 0)
			close(r->link);
		r->link = scribe_job_connect(until, err);
		rc = r->link < 0 ? r->link
				 : scribe_msg_send(r->link, SCRIBE_MSG_RUN_REATTACH, 0, NULL, 0, -1, ANSWER_MS);
		if (rc == 0)
			rc = answer(r, SCRIBE_MSG_READY, &ready, sizeof(ready), ANSWER_MS, err);
		if (rc == 0 || rc == -EIO)
			return rc;
		nanosleep(&nap, NULL);
	} while (scribe_msg_now_ms() < until);
	return scribe_err_set(err, -ETIMEDOUT,
			      "the daemon is gone, and no other has come in %d s: the log is "
			      "written when one does",
			      AGAIN_MS / 1000);
}

static int explain_end(struct scribe_run *r, const char *path, struct scribe_err *err)
{
	static const struct {
		int signal;
		const char *why;
	} known[] = {
		{SIGSYS, "a seccomp filter that is over this command kills whoever traces: run it outside of that"},
		{SIGKILL, "out of memory, perhaps by the limit of a control group; or somebody has killed it"},
	};
	const struct timespec nap = {.tv_nsec = 5000000};
	struct rlimit cpu = {.rlim_max = RLIM_INFINITY}, data = {.rlim_cur = RLIM_INFINITY};
	int status = 0, ended = 0;

	for (int i = 0; i < 200 && (ended = waitpid(r->daemon, &status, WNOHANG)) == 0; i++)
		nanosleep(&nap, NULL);
	if (!ended)
		return scribe_err_set(err, -EPIPE, "the daemon has disconnected");
	r->daemon = 0;
	getrlimit(RLIMIT_CPU, &cpu);
	if (WIFSIGNALED(status) && cpu.rlim_max != RLIM_INFINITY &&
	    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
		return scribe_err_set(err, -EPIPE,
				      "the daemon was ended by the limit of processor time, %llu s here (ulimit -t): "
				      "raise it",
				      (unsigned long long)cpu.rlim_max);
	getrlimit(RLIMIT_DATA, &data);
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGKILL) &&
	    data.rlim_cur < LEAST_DATA)
		return scribe_err_set(err, -EPIPE,
				      "the daemon was ended by the limit of data, %llu KiB here (ulimit -d): raise it",
				      (unsigned long long)data.rlim_cur / 1024);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_DAEMON)
		return scribe_err_set(err, -EPIPE, "%s cannot be executed", path);
	for (size_t i = 0; WIFSIGNALED(status) && i < sizeof(known) / sizeof(known[0]); i++)
		if (WTERMSIG(status) == known[i].signal)
			return scribe_err_set(err, -EPIPE, "the daemon was ended by signal %d (%s): %s",
					      known[i].signal, strsignal(known[i].signal), known[i].why);
	if (WIFSIGNALED(status))
		return scribe_err_set(err, -EPIPE, "the daemon was ended by signal %d (%s)", WTERMSIG(status),
				      strsignal(WTERMSIG(status)));
	return scribe_err_set(err, -EPIPE, "the daemon has ended with %d before it traced", WEXITSTATUS(status));
}

int scribe_run_link_start(struct scribe_run *r, struct scribe_err *err)
{
	static struct scribe_msg_ready ready;
	char path[PATH_MAX];
	int rc;

	if (scribe_installed_daemon(path, sizeof(path)) < 0)
		return scribe_err_set(err, -ENOENT, "ioscribed not found beside this program or in its sbin");
	if (add_library(r, err) < 0)
		return err->code;
	rc = spawn(r, path, err);
	if (rc < 0)
		return rc;
	rc = scribe_msg_send(r->link, SCRIBE_MSG_RUN_BEGIN, 0, r->options, r->options_bytes, -1, START_MS);
	if (rc == 0)
		rc = answer(r, SCRIBE_MSG_READY, &ready, sizeof(ready), START_MS, err);
	else
		scribe_err_set(err, rc, "cannot start %s: %s", path, strerror(-rc));
	if (rc == -EPIPE || rc == -ECONNRESET)
		rc = explain_end(r, path, err);
	if (rc < 0) {
		scribe_run_link_stop(r);
		return rc;
	}
	take_ready(r, &ready);
	return 0;
}

/* After this call CMD's first instruction is traced. */
int scribe_run_link_enrol(struct scribe_run *r, pid_t pid, struct scribe_err *err)
{
	struct scribe_msg_enrol m = {.pid = pid, .words = r->words};
	struct scribe_msg_enrolled ok;
	int ms = r->joined ? left_ms(r) : ENROL_MS;
	int rc = scribe_msg_send(r->link, SCRIBE_MSG_ENROL, 0, &m, sizeof(m), -1, ms);

	if (rc < 0 && rc != -ETIMEDOUT)
		return scribe_err_set(err, rc, "the daemon does not listen: %s", strerror(-rc));
	if (rc == 0)
		rc = answer(r, SCRIBE_MSG_ENROLLED, &ok, sizeof(ok), r->joined ? left_ms(r) : ms, err);
	return rc == -ETIMEDOUT && r->joined ? late(err) : rc;
}

static void remove_socket(const char *path)
{
	char dir[SCRIBE_PATH_MAX];
	char *slash;

	if (!strstr(path, "/ioscribe-"))
		return;
	unlink(path);
	strcpy(dir, path);
	slash = strrchr(dir, '/');
	*slash = 0;
	rmdir(dir);
}

static void leave_daemon(struct scribe_run *r)
{
	struct pollfd hung_up = {.fd = r->link, .events = POLLIN};
	const struct timespec nap = {.tv_nsec = 1000000};
	int64_t until = scribe_msg_now_ms() + END_MS;
	char rest[64];

	shutdown(r->link, SHUT_WR);
	/* The daemon disconnects when all logs are written, and then frees kernel objects, which takes time. */
	while (scribe_msg_now_ms() < until && waitpid(r->daemon, NULL, WNOHANG) == 0) {
		if (poll(&hung_up, 1, END_MS / 10) <= 0)
			continue;
		if (recv(r->link, rest, sizeof(rest), MSG_DONTWAIT) > 0 || errno == EINTR)
			continue;
		/* It mostly exits within LEAVE_MS and is reaped here; otherwise init reaps it. */
		for (int i = 0; i < LEAVE_MS && waitpid(r->daemon, NULL, WNOHANG) == 0; i++)
			nanosleep(&nap, NULL);
		return;
	}
	if (scribe_msg_now_ms() >= until) {
		kill(r->daemon, SIGKILL);
		waitpid(r->daemon, NULL, 0);
	}
}

void scribe_run_link_stop(struct scribe_run *r)
{
	if (r->daemon > 0 && r->link >= 0 && !r->reported)
		leave_daemon(r);
	if (r->link >= 0)
		close(r->link);
	r->link = -1;
	r->daemon = 0;
	if (!r->joined)
		remove_socket(r->socket);
}
