// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe trace`: single operations of a running job for some seconds. The log is received into memory. Must not know
 * how segments are kept.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/trace/trace_log.h"
#include "util/link/service_link.h"
#include "util/text/human.h"
#include "util/tool/command.h"

#define ANSWER_MS 30000
#define LOOK_MS   200

enum key { KEY_JOB = 1, KEY_RANK, KEY_FILE, KEY_SECONDS, KEY_STOP, KEY_OUTPUT = 'o', KEY_FORCE = 'f' };

static const struct scribe_option options[] = {
	{"job", KEY_JOB, "ID",
	 "the job, as \"ioscribe job list\" has it; of an ioscribe run that has joined the "
	 "service: the process id of its command"},
	{"seconds", KEY_SECONDS, "N", "how long (0.001 to 3600)"},
	{"rank", KEY_RANK, "LIST", "ranks such as 0,4-7 (default: all)"},
	{"file", KEY_FILE, "GLOB",
	 "files whose whole name fits this shell pattern, in which * also stands for / "
	 "(default: all)"},
	{"output", KEY_OUTPUT, "LOG", "where the log goes (default: ioscribe-trace-ID-TIME.darshan in this directory)"},
	{"force", KEY_FORCE, NULL, "replace LOG if it is there"},
	{"stop", KEY_STOP, NULL, "end what is traced of the job now: the commands that wait write their logs"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe trace --job 1234 --seconds 10",
	"every read and write of job 1234 in the next ten seconds",
	"ioscribe trace --job 1234 --seconds 2 --rank 0-3 --file '/scratch/*' -o now.darshan",
	"of four ranks, on one file system; then: ioscribe dxt now.darshan",
	"ioscribe trace --job 1234 --stop",
	"it has been enough",
	NULL,
};

const struct scribe_command scribe_command_trace = {
	.name = "trace",
	.summary = "trace single operations of a running job for some seconds",
	.main = scribe_cmd_trace,
	.operands = "",
	.min_operands = 0,
	.max_operands = 0,
	.options = options,
	.about = "Switches the tracing of single operations (DXT) on for a job that this node's "
		 "service traces, without restarting it, and off again after --seconds. The result "
		 "is a log of its own, whose path is printed: it holds each read and write that "
		 "began within the window, with its times, and begins and ends as the window does; "
		 "\"ioscribe dxt\" and every reader of Darshan's traces read it. The job's own log "
		 "stays as it is, and says in its metadata when windows were open (window_1, ...).\n\n"
		 "A window begins some 50 ms after it was asked for: when every record of the job is "
		 "traced. It ends early with the job, by --stop, and when this command is "
		 "interrupted, which then writes the log anyway. An operation that lasts "
		 "longer than 0.1 s beyond the end is missing. Windows on one job may overlap. What "
		 "the daemon cannot keep is counted, and marks the log incomplete: beyond 2 million "
		 "operations, or dxt_memory and dxt_spool of ioscribed.conf.\n\n"
		 "Root may trace every job, a user his own. Of a job on several nodes it is this "
		 "node's part. Worlds of one job stand in one log, each rank by its number. An "
		 "ioscribe run without a service has a daemon that nobody else can ask: trace such a "
		 "command with ioscribe run --dxt.",
	.examples = examples,
};

struct trace {
	const char *self, *job, *output;
	struct scribe_request request;
	struct scribe_dxt_filter filter;
	bool stop, force;
	uint32_t ms;
	char made[512];
};

static volatile sig_atomic_t interrupted; /* 1: the service must be informed; 2: done */

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static int take_seconds(struct trace *t, const char *value, struct scribe_err *err)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0.001) || seconds > 3600)
		return scribe_err_set(err, -EINVAL, "--seconds %.60s is not a number of seconds from 0.001 to 3600",
				      value);
	t->ms = (uint32_t)(seconds * 1000 + 0.5);
	return 0;
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct trace *t = ctx;

	switch (key) {
	case KEY_JOB:
		t->job = value;
		return scribe_request_add(&t->request, "job_id", value, err);
	case KEY_SECONDS:
		return take_seconds(t, value, err);
	case KEY_RANK:
		return scribe_dxt_filter_ranks(&t->filter, value, err);
	case KEY_FILE:
		t->filter.file = value;
		return 0;
	case KEY_OUTPUT:
		t->output = value;
		return 0;
	case KEY_FORCE:
		t->force = true;
		return 0;
	default:
		t->stop = true;
		return scribe_request_add(&t->request, "stop", "1", err);
	}
}

static int check(const struct trace *t, struct scribe_err *err)
{
	if (!t->job)
		return scribe_err_set(err, -EINVAL, "--job ID is needed");
	if (t->stop && (t->ms || t->filter.ranks || t->filter.file || t->output || t->force))
		return scribe_err_set(err, -EINVAL, "--stop goes with --job alone");
	if (!t->stop && !t->ms)
		return scribe_err_set(err, -EINVAL, "--seconds N is needed, or --stop");
	return 0;
}

static void make_name(struct trace *t)
{
	const time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	snprintf(t->made, sizeof(t->made), "ioscribe-trace-%.128s-%s.darshan", t->job, when);
	for (char *at = t->made; *at; at++)
		if (*at == '/' || (unsigned char)*at <= ' ' || *at == 0x7f)
			*at = '_';
	t->output = t->made;
}

static int connect_and_ask(struct trace *t, struct scribe_err *err)
{
	int sock = scribe_job_connect(scribe_msg_now_ms() + ANSWER_MS, err), rc;

	if (sock == -ENOENT)
		return scribe_err_set(err, sock, "no service at %s: only jobs that it traces can be asked for",
				      scribe_job_dir());
	if (sock < 0)
		return sock;
	rc = scribe_msg_send(sock, SCRIBE_MSG_JOB_TRACE, 0, t->request.text, t->request.bytes, -1, ANSWER_MS);
	if (rc == 0)
		return sock;
	close(sock);
	return scribe_err_set(err, rc, "the daemon at %s cannot be asked: %s", scribe_job_dir(), strerror(-rc));
}

/* Waits for a message; the first interrupt ends the window, and the log still arrives. */
static int await(struct trace *t, int sock, int64_t deadline_ms, struct scribe_err *err)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};

	while (poll(&p, 1, LOOK_MS) <= 0) {
		if (interrupted == 1) {
			interrupted = 2;
			if (scribe_request_add(&t->request, "stop", "1", err) == 0)
				(void)scribe_msg_send(sock, SCRIBE_MSG_JOB_TRACE, 0, t->request.text, t->request.bytes,
						      -1, ANSWER_MS);
			deadline_ms = scribe_msg_now_ms() + ANSWER_MS;
		}
		if (scribe_msg_left_ms(deadline_ms) == 0)
			return scribe_err_set(err, -ETIMEDOUT,
					      "the daemon at %s does not answer: it is stopped, hangs, or is busy",
					      scribe_job_dir());
	}
	return 0;
}

/* The next message's type; -EPIPE: the daemon has exited, the window is lost. */
static int hear(struct trace *t, int sock, void *packet, int64_t deadline_ms, struct scribe_err *err)
{
	const struct scribe_msg_header *h = packet;
	ssize_t n = await(t, sock, deadline_ms, err);

	if (n < 0)
		return (int)n;
	n = scribe_msg_recv(sock, packet, NULL, ANSWER_MS, err);
	if (n == 0)
		return scribe_err_set(err, -EPIPE, "the daemon has gone, and the window with it");
	if (n < 0)
		return err->text[0] ? (int)n : scribe_err_set(err, (int)n, "%s", strerror((int)-n));
	if (h->type == SCRIBE_MSG_ERROR)
		return scribe_err_set(err, -EIO, "%.*s", (int)h->len, (const char *)(h + 1));
	return h->type;
}

static void watch_signals(void)
{
	struct sigaction on_end = {.sa_handler = on_signal};

	sigemptyset(&on_end.sa_mask);
	sigaction(SIGINT, &on_end, NULL);
	sigaction(SIGTERM, &on_end, NULL);
	sigaction(SIGHUP, &on_end, NULL);
}

static int unexpected(int type, struct scribe_err *err)
{
	return type < 0 ? type : scribe_err_set(err, -EPROTO, "unexpected answer of the daemon (type %d)", type);
}

static int receive(struct trace *t, int sock, uint64_t bytes, int fd, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;

	while (bytes) {
		int type = hear(t, sock, packet, scribe_msg_now_ms() + ANSWER_MS, err);

		if (type != SCRIBE_MSG_TRACE_PART || h->len > bytes)
			return unexpected(type, err);
		if (write(fd, h + 1, h->len) != (ssize_t)h->len)
			return scribe_err_set(err, -errno, "no memory for the log of the window: %s", strerror(errno));
		bytes -= h->len;
	}
	return 0;
}

/* Replies: JOB_OK when the window is open, TRACED when it is over, then the log. */
static int converse(struct trace *t, int sock, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_traced *m = (const void *)(packet + sizeof(struct scribe_msg_header));
	char shown[2 * SCRIBE_PATH_MAX];
	int fd, rc = hear(t, sock, packet, scribe_msg_now_ms() + ANSWER_MS, err);

	if (rc < 0 || (t->stop && rc == SCRIBE_MSG_JOB_OK))
		return rc < 0 ? rc : 0;
	if (rc == SCRIBE_MSG_JOB_OK)
		rc = hear(t, sock, packet, scribe_msg_now_ms() + t->ms + ANSWER_MS, err);
	if (rc != SCRIBE_MSG_TRACED)
		return unexpected(rc, err);
	fd = memfd_create("ioscribe-window", MFD_CLOEXEC);
	rc = fd < 0 ? scribe_err_set(err, -errno, "cannot make a memory file: %s", strerror(errno))
		    : receive(t, sock, m->bytes, fd, err);
	if (rc >= 0)
		rc = scribe_trace_log_write(fd, &t->filter, t->output, t->force, err);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return rc;
	if (m->lost)
		scribe_complain(t->self, "%llu operations of the window are missing: its log says so, too",
				(unsigned long long)m->lost);
	printf("%s\n", scribe_human_text(t->output, shown, sizeof(shown)));
	return 0;
}

int scribe_cmd_trace(int argc, char **argv)
{
	static struct trace t;
	struct scribe_err err = {0};
	int first, sock, rc, status;
	char ms[16];

	t = (struct trace){.self = argv[0]};
	status = scribe_args_read(&scribe_command_trace, argc, argv, take, &t, &first);
	if (status >= 0)
		return status;
	if (check(&t, &err) < 0) {
		scribe_complain_err(argv[0], &err);
		return SCRIBE_EXIT_USAGE;
	}
	snprintf(ms, sizeof(ms), "%u", t.ms);
	rc = t.stop ? 0 : scribe_request_add(&t.request, "ms", ms, &err);
	if (!t.output)
		make_name(&t);
	if (rc == 0 && !t.stop)
		rc = scribe_trace_log_check(t.output, t.force, &err);
	if (rc < 0)
		return scribe_complain_err(argv[0], &err);
	watch_signals();
	sock = connect_and_ask(&t, &err);
	rc = sock < 0 ? sock : converse(&t, sock, &err);
	if (sock >= 0)
		close(sock);
	return rc < 0 ? scribe_complain_err(argv[0], &err) : scribe_print_end(argv[0]);
}
