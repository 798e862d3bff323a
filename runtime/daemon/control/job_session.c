/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Session with `ioscribe job` (and requests of `ioscribe trace`): one key=value per line; keys that are not of
 * the request are configuration. Root may access all jobs, a user only jobs of the same user id; job ids of
 * users are separate per user.
 */
#include "runtime/daemon/control/job_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/file/names.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/control/attach_session.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/log_check.h"
#include "runtime/daemon/control/publish_session.h"
#include "runtime/daemon/control/run_session.h"
#include "runtime/daemon/control/trace_session.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/operations/segment_windows.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/state/daemon.h"

struct request {
	struct scribe_job_spec spec;
	struct scribe_config *config; /* NULL: no configuration keys */
	bool has_deadline;
	bool streams; /* BEGIN: the client starts publishers */
	bool hook;    /* READY: the client is not a part of the job */
	bool stop;
	uint32_t ms;
};

static const struct spec_key {
	const char *name;
	size_t at, bytes; /* 0 bytes: a number */
} spec_keys[] = {
#define BEGIN_NS  2000000000ull /* longest wait for probes */
#define TEXT(f)   offsetof(struct scribe_job_spec, f), sizeof(((struct scribe_job_spec *)0)->f)
#define NUMBER(f) offsetof(struct scribe_job_spec, f), 0
	{"job_id", TEXT(id)},           {"cgroup", TEXT(cgroup)},
	{"match_env", TEXT(match_env)}, {"below", NUMBER(ancestor_pid)},
	{"pid", NUMBER(pid)},           {"nodes", NUMBER(nodes)},
	{"node", TEXT(node)},           {"deadline_s", NUMBER(deadline_s)},
	{"attempt", NUMBER(attempt)},
#undef TEXT
#undef NUMBER
};

static int set_spec(struct request *r, const struct spec_key *k, const char *value, struct scribe_err *err)
{
	char *field = (char *)&r->spec + k->at, *end;
	unsigned long n;

	if (k->bytes) {
		if (strlen(value) >= k->bytes)
			return scribe_err_set(err, -EINVAL, "%s: longer than %zu bytes", k->name, k->bytes - 1);
		strcpy(field, value);
		return 0;
	}
	/* enough for process ids and seconds */
	n = strtoul(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || n > INT32_MAX)
		return scribe_err_set(err, -EINVAL, "%s: '%.60s' is not a number", k->name, value);
	*(uint32_t *)(void *)field = (uint32_t)n;
	r->has_deadline = r->has_deadline || !strcmp(k->name, "deadline_s");
	return 0;
}

static int set_pair(struct request *r, const char *key, const char *value, struct scribe_err *err)
{
	for (size_t i = 0; i < sizeof(spec_keys) / sizeof(spec_keys[0]); i++)
		if (!strcmp(spec_keys[i].name, key))
			return set_spec(r, &spec_keys[i], value, err);
	if (!strcmp(key, "last_node")) {
		r->spec.last_node = !strcmp(value, "1");
		return 0;
	}
	if (!strcmp(key, "streams")) {
		r->streams = !strcmp(value, "1");
		return 0;
	}
	if (!strcmp(key, "hook")) {
		r->hook = !strcmp(value, "1");
		return 0;
	}
	if (!strcmp(key, "stop")) {
		r->stop = !strcmp(value, "1");
		return 0;
	}
	if (!strcmp(key, "ms"))
		return scribe_trace_session_time(value, &r->ms, err);
	if (!r->config)
		return scribe_err_set(err, -EINVAL, "'%.60s' is no key of this request", key);
	return scribe_config_set(r->config, key, value, err);
}

static int read_request(struct request *r, const char *text, size_t bytes, struct scribe_err *err)
{
	char *copy = malloc(bytes + 1), *line, *rest = copy;
	int rc = 0;

	if (!copy)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	/* the rest would be ignored */
	if (memchr(text, 0, bytes))
		rc = scribe_err_set(err, -EPROTO, "a request with a NUL");
	while (rc == 0 && (line = strsep(&rest, "\n"))) {
		char *equals = strchr(line, '=');

		if (!*line)
			continue;
		if (!equals) {
			rc = scribe_err_set(err, -EPROTO, "'%.60s' is not key=value", line);
			break;
		}
		*equals = 0;
		rc = set_pair(r, line, equals + 1, err);
	}
	free(copy);
	if (rc == 0 && r->spec.match_env[0] && !strchr(r->spec.match_env, '='))
		rc = scribe_err_set(err, -EINVAL, "match_env: '%.60s' is not NAME=VALUE", r->spec.match_env);
	return rc;
}

static bool may(const struct scribe_client *c, const struct scribe_job *job)
{
	return c->uid == 0 || c->uid == job->config.uid;
}

static int refuse(struct scribe_client *c, const struct scribe_err *err)
{
	unsigned status = err->code == -EPROTO ? SCRIBE_ST_BAD_MESSAGE : SCRIBE_ST_FAILED;

	return scribe_client_refuse(c, status, err->text[0] ? err->text : "it cannot be done");
}

/* NULL, with an error, also if the peer may not access the job. */
static struct scribe_job *named(struct scribe_daemon *d, const struct scribe_client *c, const struct request *r,
				struct scribe_err *err)
{
	struct scribe_job *job = scribe_job_by_id(d, r->spec.id, c->uid);

	/* the same error for both: the existence of others' jobs is not revealed */
	if (job && may(c, job))
		return job;
	scribe_err_set(err, -ENOENT, r->spec.id[0] ? "no job %.100s here" : "a job_id is needed%.1s", r->spec.id);
	return NULL;
}

/* Nothing if the line does not fit: a cut line would be misread. */
static void say(char *text, size_t cap, size_t *n, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void say(char *text, size_t cap, size_t *n, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text + *n, cap - *n, fmt, args);
	va_end(args);
	if (len > 0 && (size_t)len < cap - *n)
		*n += (size_t)len;
}

/* Escapes newlines, which would end the line. */
static void say_text(char *text, size_t cap, size_t *n, const char *key, const char *value)
{
	static char shown[4 * SCRIBE_PATH_MAX];
	size_t len = strlen(value);

	if (!scribe_name_printable(value, len)) {
		scribe_name_escape(value, len, shown, sizeof(shown));
		value = shown;
	}
	say(text, cap, n, "%s=%s\n", key, value);
}

static int report_streams(struct scribe_client *c, const struct scribe_config *site, bool is_new)
{
	char text[4096];
	size_t n = 0;

	say(text, sizeof(text), &n, "new=%d\n", is_new);
	say_text(text, sizeof(text), &n, "stream_hosts", site->stream_hosts);
	/* publishers of the site's own stream are started by root only */
	if (c->uid == 0 && site->stream_uid) {
		say_text(text, sizeof(text), &n, "stream", site->stream);
		say(text, sizeof(text), &n, "stream_uid=%u\n", site->stream_uid);
	}
	return scribe_client_send(c, SCRIBE_MSG_JOB_ENTRY, text, n);
}

static int on_begin(struct scribe_daemon *d, struct scribe_client *c, const char *text, size_t bytes)
{
	struct scribe_config config;
	struct request r = {.config = &config};
	struct scribe_err err = {0};
	struct scribe_job *job = NULL;
	uint32_t proc_id;
	bool is_new;
	int rc = scribe_client_config(d, c, &config, &err);

	if (rc < 0)
		return refuse(c, &err);
	rc = read_request(&r, text, bytes, &err);
	if (rc == 0 && !r.spec.id[0])
		rc = scribe_err_set(&err, -EINVAL, "a job_id is needed");
	scribe_client_limit(d, c, &config);
	if (rc == 0 && c->uid != 0 && r.spec.pid)
		rc = scribe_err_set(&err, -EPERM, "pid: only root may name a process");
	job = rc == 0 ? scribe_job_by_id(d, r.spec.id, c->uid) : NULL;
	if (job && job->state < SCRIBE_JOB_OVER && job->config.locked == config.locked) {
		/* prologs run again after a failed launch */
		rc = job->config.uid == config.uid && job->state < SCRIBE_JOB_ENDING
			     ? 1
			     : scribe_err_set(&err, -EEXIST, "job %.100s is here already", r.spec.id);
	}
	is_new = rc == 0;
	if (rc == 0)
		rc = scribe_client_may_begin(d, c, &err);
	if (rc == 0)
		scribe_client_old_keys(d, c, &config);
	if (rc == 0)
		rc = scribe_job_begin(d, &config, &r.spec, &job, &err);
	else
		scribe_config_clear(&config);
	if (rc == 0)
		scribe_job_journal_begin(job, c, text, bytes);
	/* first, so that probes are attached at enrolment */
	if (rc == 0 && r.spec.pid) {
		(void)scribe_libs_before(d, job, (pid_t)r.spec.pid, 0, 0);
		rc = scribe_job_enrol(job, (pid_t)r.spec.pid, &proc_id, &err);
		if (rc < 0)
			job->state = SCRIBE_JOB_OVER;
	}
	if (rc < 0)
		return refuse(c, &err);
	if (r.streams && report_streams(c, &job->config, is_new) < 0)
		return -EPIPE;
	return scribe_attach_session_answer(d, c, SCRIBE_MSG_JOB_OK, scribe_now_ns() + BEGIN_NS);
}

int scribe_jobs_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index, const char *text,
		       size_t bytes, struct scribe_job **ret_job, struct scribe_err *err)
{
	struct scribe_config config;
	struct request r = {.config = &config};
	int rc = scribe_client_config(d, as, &config, err);

	if (rc < 0)
		return rc;
	rc = read_request(&r, text, bytes, err);
	scribe_client_limit(d, as, &config);
	d->resuming = index + 1;
	if (rc == 0)
		rc = scribe_job_begin(d, &config, &r.spec, ret_job, err);
	else
		scribe_config_clear(&config);
	d->resuming = 0;
	return rc;
}

/* Answered by scribe_runlink_report(). */
static int on_end(struct scribe_daemon *d, struct scribe_client *c, struct request *r)
{
	struct scribe_err err = {0};
	struct scribe_job *job = named(d, c, r, &err);
	uint32_t deadline_s;

	if (job && job->state == SCRIBE_JOB_OVER)
		scribe_err_set(&err, -ENOENT, "job %.100s has ended already", r->spec.id);
	if (!job || job->state == SCRIBE_JOB_OVER)
		return refuse(c, &err);
	deadline_s = r->has_deadline ? r->spec.deadline_s : job->spec.deadline_s;
	job->spec.last_node = r->spec.last_node;
	c->asks = job;
	/* without overflow; UINT32_MAX: without a deadline */
	scribe_job_end(job, deadline_s < UINT32_MAX / 2000 ? deadline_s * 1000 : UINT32_MAX - 1);
	return 0;
}

static const char *state_of(const struct scribe_job *job)
{
	return job->state == SCRIBE_JOB_OVER ? "over" : job->state >= SCRIBE_JOB_ENDING ? "ending" : "running";
}

/* `all`: for JOB_SHOW. */
static int send_entry(struct scribe_client *c, struct scribe_job *job, bool all)
{
	static char text[16384];
	const struct scribe_job_entry *entry = scribe_bpf_job(job->daemon->bpf, job->index);
	struct scribe_ledger ledger;
	uint64_t processes = 0, units = 0;
	size_t n = 0;

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next) {
		processes += u->processes;
		units += u->id != 0;
	}
	say_text(text, sizeof(text), &n, "job_id", job->spec.id);
	say(text, sizeof(text), &n, "kind=%s\nuid=%u\n", job->spec.id[0] ? "job" : "run", job->config.uid);
	say_text(text, sizeof(text), &n, "user", job->config.user);
	say(text, sizeof(text), &n, "state=%s\n", state_of(job));
	say(text, sizeof(text), &n, "begun=%" PRId64 "\nliving=%" PRIu64 "\nprocesses=%" PRIu64 "\n",
	    (int64_t)(job->begun_ns + (uint64_t)job->realtime_ns) / 1000000000, job->worlds.living, processes);
	say(text, sizeof(text), &n, "worlds=%" PRIu64 "\nlogs=%zu\nrecords=%u\nrecords_most=%u\n", units, job->logs,
	    entry ? entry->used : 0, entry ? entry->quota : 0);
	if (!all)
		return scribe_client_send(c, SCRIBE_MSG_JOB_ENTRY, text, n);
	scribe_commit_partial(job, &ledger);
	say(text, sizeof(text), &n, "events=%" PRIu64 "\ndropped=%" PRIu64 "\n", (uint64_t)ledger.v[SCRIBE_L_EVENTS],
	    (uint64_t)ledger.v[SCRIBE_L_DROP_NO_SLOT]);
	say_text(text, sizeof(text), &n, "cgroup", job->spec.cgroup);
	say_text(text, sizeof(text), &n, "match_env", job->spec.match_env);
	say(text, sizeof(text), &n, "below=%u\nnodes=%u\n", job->spec.ancestor_pid, job->spec.nodes);
	say_text(text, sizeof(text), &n, "node", job->host);
	say(text, sizeof(text), &n, "windows=%u\n", scribe_windows_count(job));
	say_text(text, sizeof(text), &n, "log_dir", job->config.log_dir);
	for (size_t i = 0; i < job->logs; i++)
		say_text(text, sizeof(text), &n, "log", job->log[i].text[0] ? job->log[i].text : job->log[i].path);
	return scribe_client_send(c, SCRIBE_MSG_JOB_ENTRY, text, n);
}

static int on_check(struct scribe_daemon *d, struct scribe_client *c, const char *text, size_t bytes)
{
	struct scribe_config config;
	struct request r = {.config = &config};
	struct scribe_err err = {0};
	int rc;

	/* c->check holds one only */
	if (c->uid != 0 || c->check)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED,
					    c->uid ? "only root may ask for that" : "a second JOB_CHECK");
	rc = scribe_client_config(d, c, &config, &err);
	if (rc < 0)
		return refuse(c, &err);
	rc = read_request(&r, text, bytes, &err);
	if (rc == 0)
		rc = scribe_check_begin(d, c, &config, &err);
	else
		scribe_config_clear(&config);
	return rc < 0 ? refuse(c, &err) : 0;
}

static int send_spooled(void *ctx, uid_t uid, const char *path, const char *to)
{
	static char text[4 * SCRIBE_PATH_MAX];
	size_t n = 0;

	say(text, sizeof(text), &n, "kind=spooled\nuid=%u\n", (unsigned)uid);
	say_text(text, sizeof(text), &n, "path", path);
	say_text(text, sizeof(text), &n, "place", to);
	return scribe_client_send(ctx, SCRIBE_MSG_JOB_ENTRY, text, n);
}

static int on_list(struct scribe_daemon *d, struct scribe_client *c)
{
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (may(c, job) && send_entry(c, job, false) < 0)
			return -EPIPE;
	if (d->spool && scribe_spool_each(d->spool, c->uid, send_spooled, c) < 0)
		return -EPIPE;
	return scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
}

static int on_show(struct scribe_daemon *d, struct scribe_client *c, const struct request *r)
{
	struct scribe_err err = {0};
	struct scribe_job *job = named(d, c, r, &err);

	if (!job)
		return refuse(c, &err);
	if (send_entry(c, job, true) < 0)
		return -EPIPE;
	return scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
}

/* Answered when probes are attached, after at most LINKS_NS (attach_session.c). */
static int on_ready(struct scribe_daemon *d, struct scribe_client *c, const struct request *r)
{
	struct scribe_err err = {0};
	struct scribe_job *job = named(d, c, r, &err);

	if (job && job->state >= SCRIBE_JOB_ENDING)
		scribe_err_set(&err, -ENOENT, "job %.100s has ended already", r->spec.id);
	if (!job || job->state >= SCRIBE_JOB_ENDING)
		return refuse(c, &err);
	return scribe_attach_session_announced(d, c, r->hook);
}

/* Its number is the process id of its command. */
static struct scribe_job *run_by_number(struct scribe_daemon *d, const struct scribe_client *c, const char *id)
{
	char number[24];

	for (struct scribe_job *job = d->jobs; job; job = job->next) {
		snprintf(number, sizeof(number), "%" PRId64, job->log_job_id);
		if (!job->spec.id[0] && job->state < SCRIBE_JOB_OVER && may(c, job) && !strcmp(number, id))
			return job;
	}
	return NULL;
}

/* A job that is not over; otherwise NULL, with an error. */
static struct scribe_job *running(struct scribe_daemon *d, const struct scribe_client *c, const struct request *r,
				  struct scribe_err *err)
{
	struct scribe_job *job = named(d, c, r, err);

	/* a run may have the number of a job that is over */
	job = job && job->state < SCRIBE_JOB_OVER ? job : run_by_number(d, c, r->spec.id);
	if (!job && !err->text[0])
		scribe_err_set(err, -ENOENT, "job %.100s has ended already", r->spec.id);
	return job;
}

static struct scribe_job *of_process(struct scribe_daemon *d, const struct scribe_client *c, uint32_t pid,
				     struct scribe_err *err)
{
	const struct scribe_process *p = scribe_map_get(&d->by_tgid, pid);

	if (p && p->job && p->job->state < SCRIBE_JOB_OVER && may(c, p->job))
		return p->job;
	scribe_err_set(err, -ENOENT, "no job has process %u", pid);
	return NULL;
}

/* For the account of the site's publishers. */
static struct scribe_job *of_site(struct scribe_daemon *d, const struct request *r, struct scribe_err *err)
{
	/* as root: a prolog's job takes precedence over users' jobs */
	struct scribe_job *job = scribe_job_by_id(d, r->spec.id, 0);

	if (!job || job->state >= SCRIBE_JOB_OVER)
		scribe_err_set(err, -ENOENT, "no job %.100s here", r->spec.id);
	return job && job->state < SCRIBE_JOB_OVER ? job : NULL;
}

static int on_publish(struct scribe_daemon *d, struct scribe_client *c, const struct request *r)
{
	const uint32_t site = d->service ? d->service->config.stream_uid : 0;
	struct scribe_err err = {0};
	struct scribe_job *job;

	if (r->spec.pid)
		job = of_process(d, c, r->spec.pid, &err);
	else
		job = site && c->uid == site ? of_site(d, r, &err) : running(d, c, r, &err);
	return !job || scribe_publish_session_open(d, c, job, &err) < 0 ? refuse(c, &err) : 0;
}

/* Answered with the log (trace_session.c). */
static int on_trace(struct scribe_daemon *d, struct scribe_client *c, const struct request *r)
{
	struct scribe_err err = {0};
	struct scribe_job *job = running(d, c, r, &err);
	int rc;

	if (!job)
		return refuse(c, &err);
	rc = r->stop ? scribe_trace_session_stop(c, job, &err) : scribe_trace_session_open(d, c, job, r->ms, &err);
	return rc < 0 ? refuse(c, &err) : 0;
}

int scribe_jobs_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h)
{
	const char *text = (const char *)(h + 1);
	struct request r = {0};
	struct scribe_err err = {0};

	if (!d->service && h->type != SCRIBE_MSG_JOB_PUBLISH)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "not a message for this socket");
	/* with configuration keys: these parse the text themselves */
	if (h->type == SCRIBE_MSG_JOB_BEGIN)
		return on_begin(d, c, text, h->len);
	if (h->type == SCRIBE_MSG_JOB_CHECK)
		return on_check(d, c, text, h->len);
	if (read_request(&r, text, h->len, &err) < 0)
		return refuse(c, &err);
	switch (h->type) {
	case SCRIBE_MSG_JOB_END:
		return on_end(d, c, &r);
	case SCRIBE_MSG_JOB_LIST:
		return on_list(d, c);
	case SCRIBE_MSG_JOB_SHOW:
		return on_show(d, c, &r);
	case SCRIBE_MSG_JOB_READY:
		return on_ready(d, c, &r);
	case SCRIBE_MSG_JOB_TRACE:
		return on_trace(d, c, &r);
	case SCRIBE_MSG_JOB_PUBLISH:
		return on_publish(d, c, &r);
	default:
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "not a request about a job");
	}
}
