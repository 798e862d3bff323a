// SPDX-License-Identifier: BSD-3-Clause
/*
 * Questions in Python: starts the interpreter with python/ioscribe/analysis.py. The database's address, which
 * can contain a password, goes through the environment. Analyses query only through ioscribe-query. Must not
 * know JSON.
 */
#include "util/store/analysis.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/store/frame_json.h"

#define MAX_OUTPUT (64u << 20) /* bytes */
#define MAX_DEPTH  8           /* of analyses that run analyses; ends recursion */
#define STOP_MS    200         /* interval of checking the limit */
#define GRACE_MS   1000        /* between SIGTERM and SIGKILL */

enum { ENV_DB, ENV_UID, ENV_QUESTIONS, ENV_QUERY, ENV_DEPTH, NENV };

struct start {
	const char *python;
	char runner[2 * PATH_MAX];
	char parameters[SCRIBE_QUESTION_PARAMETERS][sizeof(struct scribe_question_parameter)];
	char *argv[SCRIBE_QUESTION_PARAMETERS + 5];
	char *ours[NENV];
	char **env; /* borrowed strings, and `ours` */
};

struct child {
	const struct scribe_ask *from;
	const char *name;
	pid_t pid;
	int fd; /* standard output of the child */
};

static int no_memory(const struct scribe_question *q, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "%s: out of memory", q->name);
}

static int find_runner(struct start *s, const char *self, const char *name, struct scribe_err *err)
{
	const char *const places[] = {SCRIBE_PYTHON_FROM_LIBEXEC, "python"};

	s->python = getenv("IOSCRIBE_PYTHON");
	if (!s->python)
		s->python = "/usr/bin/python3";
	if (access(s->python, X_OK) < 0)
		return scribe_err_set(err, -errno,
				      "%s is in Python, and %s cannot be run: %s; IOSCRIBE_PYTHON names another", name,
				      s->python, strerror(errno));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(s->runner, sizeof(s->runner), "%s/%s/ioscribe/analysis.py", self, places[i]);
		if (access(s->runner, R_OK) == 0)
			return 0;
	}
	snprintf(s->runner, sizeof(s->runner), SCRIBE_PYTHON "/ioscribe/analysis.py");
	if (access(s->runner, R_OK) == 0)
		return 0;
	return scribe_err_set(err, -errno, "%s: %s: %s; is ioscribe installed as a whole?", name, s->runner,
			      strerror(errno));
}

static void make_arguments(struct start *s, const struct scribe_question *q)
{
	int n = 0;

	/* The runner does not parse the question's head, so types are passed: NAME=TEXT or NAME:=INTEGER. */
	s->argv[n++] = (char *)(uintptr_t)s->python;
	s->argv[n++] = "-B"; /* no __pycache__ beside the analysis */
	s->argv[n++] = s->runner;
	s->argv[n++] = q->python;
	for (int i = 0; i < q->nparameters; i++) {
		const struct scribe_question_parameter *p = &q->parameters[i];

		snprintf(s->parameters[i], sizeof(s->parameters[i]), "%s%s%s", p->name, p->is_number ? ":=" : "=",
			 p->value);
		s->argv[n++] = s->parameters[i];
	}
	s->argv[n] = NULL;
}

static bool is_ours(const struct start *s, const char *variable)
{
	size_t n = strcspn(variable, "=") + 1;

	for (int i = 0; i < NENV; i++)
		if (!strncmp(s->ours[i], variable, n))
			return true;
	return false;
}

static int make_environment(struct start *s, const char *self, const struct scribe_question *q,
			    const struct scribe_ask *from, struct scribe_err *err)
{
	const char *asked = getenv("IOSCRIBE_ANALYSIS_DEPTH");
	int depth = asked ? atoi(asked) + 1 : 1;
	size_t n = 0, to = 0;

	/* Built before fork: afterwards malloc could deadlock on a lock of another thread. */
	if (depth > MAX_DEPTH)
		return scribe_err_set(err, -EINVAL, "%s: analyses that ask analyses, more than %d deep", q->name,
				      MAX_DEPTH);
	if (asprintf(&s->ours[ENV_DB], "IOSCRIBE_DB=%s", from->db) < 0 ||
	    asprintf(&s->ours[ENV_UID], from->uid < 0 ? "IOSCRIBE_DB_UID=" : "IOSCRIBE_DB_UID=%" PRId64, from->uid) <
		    0 ||
	    asprintf(&s->ours[ENV_QUESTIONS], "IOSCRIBE_QUESTIONS=%s", from->folders) < 0 ||
	    asprintf(&s->ours[ENV_QUERY], "IOSCRIBE_QUERY=%s/ioscribe-query", self) < 0 ||
	    asprintf(&s->ours[ENV_DEPTH], "IOSCRIBE_ANALYSIS_DEPTH=%d", depth) < 0)
		return no_memory(q, err);
	while (environ[n])
		n++;
	s->env = calloc(n + NENV + 1, sizeof(*s->env));
	if (!s->env)
		return no_memory(q, err);
	for (size_t i = 0; i < n; i++)
		if (!is_ours(s, environ[i]))
			s->env[to++] = environ[i];
	memcpy(s->env + to, s->ours, sizeof(s->ours));
	return 0;
}

static struct start *start_free(struct start *s)
{
	for (int i = 0; s && i < NENV; i++)
		free(s->ours[i]);
	if (s)
		free(s->env);
	free(s);
	return NULL;
}

static int start_make(const struct scribe_question *q, const struct scribe_ask *from, struct start **ret_start,
		      struct scribe_err *err)
{
	struct start *s = calloc(1, sizeof(*s));
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int rc;

	if (!s)
		return no_memory(q, err);
	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	rc = find_runner(s, self, q->name, err);
	if (rc >= 0)
		rc = make_environment(s, self, q, from, err);
	if (rc < 0) {
		start_free(s);
		return rc;
	}
	make_arguments(s, q);
	*ret_start = s;
	return 0;
}

/* Between fork and exec: only async-signal-safe calls. */
static _Noreturn void become(const struct start *s, pid_t parent, bool own_group, int output)
{
	int input = open("/dev/null", O_RDONLY);
	sigset_t none;

	if (own_group)
		setpgid(0, 0);
	/* The child must not outlive this process, whatever ends it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(127);
	if (input > STDERR_FILENO)
		close(input);
	sigemptyset(&none); /* the server blocks signals and ignores SIGPIPE */
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execve(s->python, s->argv, s->env);
	_exit(127);
}

static int start_child(const struct start *s, struct child *c, struct scribe_err *err)
{
	bool own_group = c->from->limit.end_ms > 0;
	pid_t parent = getpid();
	int ends[2];

	if (own_group)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return scribe_err_set(err, -errno, "%s: pipe: %s", c->name, strerror(errno));
	c->pid = fork();
	if (c->pid == 0)
		become(s, parent, own_group, ends[1]);
	close(ends[1]);
	if (c->pid < 0) {
		int code = errno;

		close(ends[0]);
		return scribe_err_set(err, -code, "%s: cannot start a process: %s", c->name, strerror(code));
	}
	if (own_group)
		setpgid(c->pid, c->pid); /* in parent and child, because either may run first */
	c->fd = ends[0];
	return 0;
}

static int wait_for_output(const struct child *c, struct scribe_err *err)
{
	const struct scribe_sql_limit *limit = &c->from->limit;
	struct pollfd p = {.fd = c->fd, .events = POLLIN};

	for (;;) {
		int rc = scribe_sql_over(limit, c->name, err);

		if (rc < 0)
			return rc;
		if (poll(&p, 1, limit->end_ms || limit->stop ? STOP_MS : -1) > 0)
			return 0;
	}
}

/* 1: complete; 0: the output ended before. */
static int receive(const struct child *c, struct scribe_frame_json *json, struct scribe_err *err)
{
	char piece[16384];
	size_t total = 0;

	for (;;) {
		int rc = wait_for_output(c, err);
		ssize_t n = rc < 0 ? 0 : read(c->fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (rc < 0 || n <= 0)
			return rc;
		total += (size_t)n;
		if (total > MAX_OUTPUT)
			return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s: an answer of more than %u MiB", c->name,
					      MAX_OUTPUT >> 20);
		rc = scribe_frame_json_feed(json, piece, (size_t)n);
		if (rc)
			return rc;
	}
}

static void kill_it(const struct child *c, pid_t whom)
{
	int64_t end = scribe_msg_now_ms() + GRACE_MS;
	siginfo_t ended = {0};

	kill(whom, SIGTERM);
	while (scribe_msg_now_ms() < end && waitid(P_PID, (id_t)c->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       !ended.si_pid)
		usleep(5000);
	kill(whom, SIGKILL);
}

/* Returns the number of children. */
static int kill_children(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0, pid;

	while (threads && (e = readdir(threads))) {
		char path[64];
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", e->d_name);
		f = fopen(path, "re");
		for (; f && fscanf(f, "%d", &pid) == 1; n++)
			kill(pid, SIGKILL);
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return n;
}

static void kill_orphans(void)
{
	int64_t end = scribe_msg_now_ms() + GRACE_MS;

	/*
	 * As subreaper this process inherits orphans, also those that left the group by setsid, and their children
	 * as they exit.
	 */
	while (kill_children() && scribe_msg_now_ms() < end) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		usleep(1000);
	}
}

static int end_child(const struct child *c, int rc)
{
	bool own_group = c->from->limit.end_ms > 0;
	int status = 0;

	/* Until this the pid cannot be reused, so killing the group is safe. */
	close(c->fd);
	if (rc < 0)
		kill_it(c, own_group ? -c->pid : c->pid);
	else if (own_group)
		kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (own_group)
		kill_orphans();
	return status;
}

static int no_answer(const char *name, int status, struct scribe_err *err)
{
	bool by_signal = WIFSIGNALED(status);

	return scribe_err_set(err, -EIO, "%s: ended with %s %d and no answer", name, by_signal ? "signal" : "status",
			      by_signal ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int run(const struct scribe_question *q, const struct scribe_ask *from, scribe_sql_row_fn *row, void *ctx,
	       struct scribe_err *err)
{
	struct child c = {.from = from, .name = q->name};
	struct scribe_frame_json *json = NULL;
	struct start *s = NULL;
	int status, rc = start_make(q, from, &s, err);

	if (rc < 0)
		return rc;
	json = scribe_frame_json_new(q->name, row, ctx, err);
	rc = json ? start_child(s, &c, err) : no_memory(q, err);
	start_free(s);
	if (rc >= 0) {
		rc = receive(&c, json, err);
		status = end_child(&c, rc);
		if (!rc)
			rc = no_answer(q->name, status, err);
	}
	scribe_frame_json_free(json);
	return rc < 0 ? rc : 0;
}

int scribe_question_run(const struct scribe_question *q, const struct scribe_sql_value *values,
			const struct scribe_ask *from, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	int rc, why;

	if (q->python)
		return run(q, from, row, ctx, err);
	rc = scribe_store_query(from->store, q->sql, values, q->nparameters, &from->limit, row, ctx, err);
	/* Reports the limit rather than the database's text for an aborted query. */
	why = rc < 0 ? scribe_sql_over(&from->limit, q->name, err) : 0;
	return why ? why : rc;
}
