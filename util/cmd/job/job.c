// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe job`: one request to the service, and its replies. Ends in bounded time: each step gets the rest of
 * --timeout. Must not know BPF or logs.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cmd/job/job_print.h"
#include "util/cmd/job/job_report.h"
#include "util/cmd/job/job_streams.h"
#include "util/link/pattern_check.h"
#include "util/link/service_link.h"
#include "util/text/human.h"
#include "util/tool/command.h"

enum key {
	KEY_JOB_ID = 1,
	KEY_UID,
	KEY_GID,
	KEY_CGROUP,
	KEY_MATCH_ENV,
	KEY_BELOW,
	KEY_PID,
	KEY_NODES,
	KEY_NODE,
	KEY_ATTEMPT,
	KEY_DEADLINE,
	KEY_TIMEOUT,
	KEY_NO_START,
	KEY_STAY,
	KEY_CONFIG,
	KEY_LAST_NODE,
	KEY_JSON,
	KEY_HOOK,
	KEY_STREAM,
	KEY_LOG_DIR,
	KEY_LINE,
	KEY_QUIET = 'q',
};

static const struct scribe_option options[] = {
	{"job-id", KEY_JOB_ID, "ID", "the scheduler's number or name of the job"},
	{"uid", KEY_UID, "UID", "begin: user id of the job (default: the caller's)"},
	{"gid", KEY_GID, "GID", "begin: group id for its log files (default: the user's)"},
	{"cgroup", KEY_CGROUP, "PATH", "begin: the job's cgroup of version 2; its processes are the job's"},
	{"match-env", KEY_MATCH_ENV, "NAME=VALUE",
	 "begin: processes of UID with this variable in their environment are the job's"},
	{"below", KEY_BELOW, "PID", "begin: with --match-env, only descendants of this process"},
	{"pid", KEY_PID, "PID", "begin: trace this process and its descendants at once, flag or not (root only)"},
	{"nodes", KEY_NODES, "N", "begin: how many nodes the job has; the last that ends it makes its logs"},
	{"node", KEY_NODE, "NAME", "begin: what this node is called (default: the host's name)"},
	{"attempt", KEY_ATTEMPT, "N", "begin: how often the job was started before (default 0)"},
	{"deadline", KEY_DEADLINE, "SECONDS",
	 "end: how long to wait for processes that still run before the log is written (default 0); begin: "
	 "what "
	 "end waits for when it does not say"},
	{"stream", KEY_STREAM, "SINK",
	 "begin: send the job's operations to SINK as its user (ioscribe publish); may be repeated"},
	{"timeout", KEY_TIMEOUT, "SECONDS", "most time to wait for the daemon (default 2)"},
	{"no-start", KEY_NO_START, NULL, "begin: do not start a daemon when none runs"},
	{"stay", KEY_STAY, NULL, "begin: a daemon started for this job does not end with the last job"},
	{"config", KEY_CONFIG, "FILE", "begin: configuration of a daemon that is started"},
	{"last-node", KEY_LAST_NODE, NULL,
	 "end: the other nodes of the job have ended it, or never will: make its logs of what there is"},
	{"hook", KEY_HOOK, NULL,
	 "ready: the caller is a scheduler's hook: it and what started it are no part of the job"},
	{"log-dir", KEY_LOG_DIR, "DIR", "report: where logs are (default: where the site's configuration puts them)"},
	{"line", KEY_LINE, NULL, "report: print one line for a scheduler's accounting"},
	{"json", KEY_JSON, NULL, "list, show and status: print JSON"},
	{"quiet", KEY_QUIET, NULL, "end: do not print the logs' paths"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe job begin --job-id 1234 --uid 1000 --match-env SLURM_JOB_ID=1234",
	"in the prolog: processes of job 1234 that ask for it are traced",
	"ioscribe job end --job-id 1234 --deadline 5",
	"in the epilog: write its log, at the latest in five seconds",
	"ioscribe job ready --job-id 1234",
	"before a program of the job is started: it is recorded from its first call on",
	"ioscribe job list --json",
	"what the daemon of this node traces now",
	"ioscribe job report 1234",
	"what the job has read and written, from its logs",
	NULL,
};

const struct scribe_command scribe_command_job = {
	.name = "job",
	.summary = "begin, end, list, show a job of this node's service; report on its logs",
	.main = scribe_cmd_job,
	.operands = "begin|ready|end|list|show|status|report [ID] [KEY=VALUE...]",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.about = "Speaks with the daemon of this node (ioscribed --service). A prolog begins a job, an epilog "
		 "ends "
		 "it. Inside the job those processes are traced that have IOSCRIBE_ENABLE=1 in their "
		 "environment when they are executed, and all their descendants; the job is a cgroup, or a "
		 "user with a variable of the scheduler's.\n\n"
		 "While no process of a job is traced nothing is attached to system calls. The first process "
		 "that is executed has the programs attached, in about a millisecond, unless ready has done "
		 "so before: it returns when every call of a process that is executed from now on is "
		 "recorded, and holds for attach_linger_ms. Slurm's plugin, the task prolog and the preloaded "
		 "runtime do the same; a process that nobody announced is marked in its log.\n\n"
		 "begin --stream starts a process with the identity of the job's user that sends the job's operations "
		 "to SINK until the job has ended, and one with the identity stream_uid for each sink of the service's "
		 "key stream; what they complain of stands in the system's log. A SINK that cannot be used costs the "
		 "stream alone: the job begins, and the exit status is 1.\n\n"
		 "begin starts the daemon when none runs; the last end lets that daemon go. KEY=VALUE are "
		 "keys "
		 "of ioscribed.conf for this job. end prints the paths of the logs that were written. Every "
		 "command ends within --timeout, whatever state the daemon is in; what it was told goes "
		 "on.\n\n"
		 "A job with --nodes leaves its parts in the directory USER_idID.parts beside its logs: every "
		 "node those that are there, and whichever is the last makes the logs of them. Where a node "
		 "never comes, ioscribe merge DIRECTORY does it.\n\n"
		 "status tells how much of its quotas a user has taken, and root how the daemon fares: the longest "
		 "turn of its loop, for which everybody waits, and how full the event ring has been.\n\n"
		 "report adds up the logs of a job: bytes and time by mount, findings, whether all was recorded. It "
		 "reads the caller's own logs (root: any user's) and needs no daemon. --line prints one line "
		 "(docs/site-guide.md).\n\n"
		 "Root may name every job, a user only those of the same user id. IOSCRIBE_DIR names another "
		 "directory of the service than /run/ioscribe.",
	.examples = examples,
};

struct job {
	const char *self;
	enum scribe_msg_type verb;
	struct scribe_request request;
	bool begin, has_uid, has_gid, json, quiet, no_start, stay, line;
	const char *config, *log_dir;
	int timeout_ms;
	int64_t deadline; /* in ms of scribe_msg_now_ms */
	struct scribe_job_streams streams;
};

static int take_uid(struct job *j, const char *value, struct scribe_err *err)
{
	struct passwd *pw;
	char *end, gid[16];
	unsigned long uid = strtoul(value, &end, 10);
	int rc;

	if (value[0] < '0' || value[0] > '9' || *end || uid > 4294967294ul)
		return scribe_err_set(err, -EINVAL, "--uid %s is no user id", value);
	j->has_uid = true;
	j->streams.uid = (uid_t)uid;
	rc = scribe_request_add(&j->request, "uid", value, err);
	/* Name and primary group are sent along, because the daemon does not look up users. */
	pw = getpwuid((uid_t)uid);
	if (rc < 0 || !pw)
		return rc;
	snprintf(gid, sizeof(gid), "%u", (unsigned)pw->pw_gid);
	rc = scribe_request_add(&j->request, "user", pw->pw_name, err);
	return rc < 0 || j->has_gid ? rc : scribe_request_add(&j->request, "gid", gid, err);
}

static int take_timeout(struct job *j, const char *value, struct scribe_err *err)
{
	char *end;
	double seconds = strtod(value, &end);

	/* At most an hour: a hook that waits blocks the node. */
	if (end == value || *end || !(seconds > 0) || seconds > 3600)
		return scribe_err_set(err, -EINVAL, "--timeout %s is not a number of seconds up to 3600", value);
	j->timeout_ms = (int)(seconds * 1000);
	return 0;
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct job *j = ctx;

	switch (key) {
	case KEY_JOB_ID:
		j->streams.job_id = value;
		return scribe_request_add(&j->request, "job_id", value, err);
	case KEY_UID:
		return take_uid(j, value, err);
	case KEY_GID:
		j->has_gid = true;
		j->streams.gid = (gid_t)strtoul(value, NULL, 10); /* the daemon validates it */
		return scribe_request_add(&j->request, "gid", value, err);
	case KEY_CGROUP:
		return scribe_request_add(&j->request, "cgroup", value, err);
	case KEY_MATCH_ENV:
		return scribe_request_add(&j->request, "match_env", value, err);
	case KEY_BELOW:
		return scribe_request_add(&j->request, "below", value, err);
	case KEY_PID:
		return scribe_request_add(&j->request, "pid", value, err);
	case KEY_NODES:
		return scribe_request_add(&j->request, "nodes", value, err);
	case KEY_NODE:
		return scribe_request_add(&j->request, "node", value, err);
	case KEY_ATTEMPT:
		return scribe_request_add(&j->request, "attempt", value, err);
	case KEY_DEADLINE:
		return scribe_request_add(&j->request, "deadline_s", value, err);
	case KEY_LAST_NODE:
		return scribe_request_add(&j->request, "last_node", "1", err);
	case KEY_HOOK:
		return scribe_request_add(&j->request, "hook", "1", err);
	case KEY_TIMEOUT:
		return take_timeout(j, value, err);
	case KEY_CONFIG:
		j->config = value;
		return 0;
	case KEY_LOG_DIR:
		j->log_dir = value;
		return 0;
	case KEY_STREAM:
		scribe_job_streams_add(&j->streams, j->self, value);
		return 0;
	default:
		j->no_start = j->no_start || key == KEY_NO_START;
		j->stay = j->stay || key == KEY_STAY;
		j->json = j->json || key == KEY_JSON;
		j->quiet = j->quiet || key == KEY_QUIET;
		j->line = j->line || key == KEY_LINE;
		return 0;
	}
}

/* Only begin takes KEY=VALUE; the other verbs take one job id, equal to --job-id. */
static int take_operands(struct job *j, char **word, struct scribe_err *err)
{
	static const struct {
		const char *name;
		enum scribe_msg_type type;
	} verbs[] = {{"begin", SCRIBE_MSG_JOB_BEGIN}, {"ready", SCRIBE_MSG_JOB_READY},
		     {"end", SCRIBE_MSG_JOB_END},     {"list", SCRIBE_MSG_JOB_LIST},
		     {"show", SCRIBE_MSG_JOB_SHOW},   {"status", SCRIBE_MSG_JOB_STATUS}};
	int rc = 0;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(word[0], verbs[i].name))
			j->verb = verbs[i].type;
	if (!j->verb)
		return scribe_err_set(err, -EINVAL, "%s: none of begin, ready, end, list, show, status, report",
				      word[0]);
	j->begin = j->verb == SCRIBE_MSG_JOB_BEGIN;
	for (word++; *word && rc == 0; word++) {
		char *equals = strchr(*word, '=');

		if (!equals && !j->begin) {
			rc = scribe_request_add(&j->request, "job_id", *word, err);
			continue;
		}
		if (!equals || !j->begin)
			return scribe_err_set(err, -EINVAL, "%s: KEY=VALUE is expected, of a job to begin", *word);
		*equals = 0;
		rc = scribe_request_add(&j->request, *word, equals + 1, err);
	}
	if (rc == 0 && j->request.bytes && (j->verb == SCRIBE_MSG_JOB_LIST || j->verb == SCRIBE_MSG_JOB_STATUS))
		return scribe_err_set(err, -EINVAL, "list and status take no job's ID or options");
	return rc;
}

static int reach(struct job *j, int64_t deadline, struct scribe_err *err)
{
	int sock = scribe_job_connect(deadline, err), rc;

	if (sock != -ENOENT || !j->begin || j->no_start)
		return sock;
	rc = scribe_job_start(j->config, j->stay, deadline, err);
	if (rc == -EPERM)
		return rc;
	sock = scribe_job_connect(deadline, rc < 0 ? NULL : err);
	return sock < 0 && rc < 0 ? rc : sock;
}

/* Paths go to standard output, for scripts; reasons to standard error. */
static void print_log(const struct job *j, const struct scribe_msg_log *m)
{
	char shown[2 * SCRIBE_PATH_MAX];

	if (m->text[0])
		scribe_complain(j->self, "no log%s%s: %s", m->world[0] ? " of " : "", m->world, m->text);
	else if (!j->quiet)
		printf("%s\n", scribe_human_text(m->path, shown, sizeof(shown)));
}

static int hear_all(struct job *j, int sock, int64_t deadline, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	const struct scribe_msg_result *result = (const void *)(h + 1);
	bool array = j->json && (j->verb == SCRIBE_MSG_JOB_LIST || j->verb == SCRIBE_MSG_JOB_STATUS);
	int n = 0, type;

	for (;; n++) {
		type = scribe_job_receive(sock, packet, deadline, err);
		if (type == -EPIPE && n == 0)
			return 1;
		if (array && n == 0)
			putchar('[');
		if (type == SCRIBE_MSG_LOG)
			print_log(j, (const void *)(h + 1));
		else if (type == SCRIBE_MSG_JOB_ENTRY && j->begin)
			scribe_job_streams_parse_answer(&j->streams, (const char *)(h + 1), h->len);
		else if (type == SCRIBE_MSG_JOB_ENTRY && j->json)
			scribe_job_print_json((const char *)(h + 1), h->len, n == 0);
		else if (type == SCRIBE_MSG_JOB_ENTRY && j->verb == SCRIBE_MSG_JOB_LIST)
			scribe_job_print_line((const char *)(h + 1), h->len, n == 0);
		else if (type == SCRIBE_MSG_JOB_ENTRY)
			scribe_job_print_all((const char *)(h + 1), h->len, n == 0);
		else
			break;
	}
	/* Also after an error, so that the printed array stays valid JSON. */
	if (j->json)
		puts(array ? "\n]" : "");
	if (type == SCRIBE_MSG_JOB_OK)
		return 0;
	if (type == SCRIBE_MSG_RESULT)
		return result->failed ? -EIO : 0;
	if (type > 0)
		return scribe_err_set(err, -EPROTO, "unexpected answer of the daemon (type %d)", type);
	return type;
}

static int converse(struct job *j, struct scribe_err *err)
{
	int rc = 1;

	/*
	 * A daemon that was about to exit closes without a reply. begin retries until another one runs; other
	 * verbs retry once, which finds a successor, or that the service has ended.
	 */
	for (int tries = 0; rc == 1 && (tries < 2 || j->begin) && scribe_msg_now_ms() < j->deadline; tries++) {
		int sock;

		*err = (struct scribe_err){0};
		sock = reach(j, j->deadline, err);
		if (sock < 0)
			return sock;
		rc = scribe_msg_send(sock, j->verb, 0, j->request.text, j->request.bytes, -1, j->timeout_ms);
		if (rc == 0)
			rc = hear_all(j, sock, j->deadline, err);
		/* The daemon has the request and starts the job as soon as its programs are loaded. */
		if (rc == -ETIMEDOUT && j->begin && scribe_job_is_loading())
			rc = 0;
		else if (rc == -EPIPE || rc == -ECONNRESET)
			rc = 1;
		close(sock);
	}
	return rc == 1 ? -EPIPE : rc;
}

int scribe_cmd_job(int argc, char **argv)
{
	static struct job j;
	struct scribe_err err = {0};
	int first, status, rc;
	char own[16];

	j = (struct job){.self = argv[0], .timeout_ms = 2000, .streams.gid = SCRIBE_JOB_STREAMS_GID};
	status = scribe_args_read(&scribe_command_job, argc, argv, take, &j, &first);
	if (status >= 0)
		return status;
	if (!strcmp(argv[first], "report")) {
		if (argc - first == 2)
			return scribe_job_report(argv[0], argv[first + 1], j.log_dir, j.line);
		scribe_complain(argv[0], "report takes the ID of one job");
		return SCRIBE_EXIT_USAGE;
	}
	/* Checked before anything is sent, so that wrong options are a usage error. */
	if (take_operands(&j, argv + first, &err) < 0 ||
	    scribe_check_patterns(j.request.text, j.request.bytes, &err) < 0) {
		scribe_complain_err(argv[0], &err);
		return SCRIBE_EXIT_USAGE;
	}
	snprintf(own, sizeof(own), "%u", (unsigned)getuid());
	if (j.begin && !j.has_uid && take_uid(&j, own, &err) < 0) {
		scribe_complain_err(argv[0], &err);
		return SCRIBE_EXIT_USAGE;
	}
	if (j.begin && scribe_request_add(&j.request, "streams", "1", &err) < 0) {
		scribe_complain_err(argv[0], &err);
		return SCRIBE_EXIT_USAGE;
	}
	scribe_complain_old_keys(j.self, j.request.text, j.request.bytes);
	j.deadline = scribe_msg_now_ms() + j.timeout_ms;
	rc = converse(&j, &err);
	if (rc < 0 && !err.text[0] && rc != -EIO)
		scribe_err_set(&err, rc, "%s", strerror(-rc));
	if (rc < 0 && err.text[0])
		scribe_complain_err(argv[0], &err);
	if (rc == 0 && j.begin)
		rc = scribe_job_streams_begin(&j.streams, j.self, j.deadline);
	return rc < 0 ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
