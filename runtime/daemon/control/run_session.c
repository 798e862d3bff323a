/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Session with `ioscribe run`: RUN_BEGIN creates a job, ENROL adds CMD before it executes, END waits for the
 * report of the logs, RUN_REATTACH resumes a job after a restart of the daemon. The job belongs to the daemon.
 */
#include "runtime/daemon/control/run_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/old_names.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/config/user_name.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/privsep/helper.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/state/daemon.h"

#define BUILDING_NS 5000000000ull /* interval of SCRIBE_MSG_BUILDING */

int scribe_client_config(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config,
			 struct scribe_err *err)
{
	int rc;

	if (!d->service)
		return scribe_config_default(config, err);
	rc = scribe_config_copy(config, &d->service->config);
	if (rc < 0)
		return scribe_err_set(err, rc, "out of memory");
	config->locked = c->uid != 0;
	config->old_keys = 0; /* reported with the service's file */
	return 0;
}

void scribe_client_old_keys(const struct scribe_daemon *d, const struct scribe_client *c,
			    const struct scribe_config *config)
{
	char text[SCRIBE_OLD_KEYS_TEXT_MAX];

	/* for a private daemon `ioscribe run` does it */
	if (d->service && config->old_keys)
		scribe_audit_log_old_keys(c->uid, c->pid,
					  scribe_old_keys_text("", config->old_keys, text, sizeof(text)));
}

void scribe_client_limit(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config)
{
	if (!config->locked)
		return;
	config->uid = c->uid;
	config->gid = c->gid;
	scribe_user_name(config);
	if (config->records > d->service->config.records)
		config->records = d->service->config.records;
}

int scribe_client_may_begin(const struct scribe_daemon *d, const struct scribe_client *c, struct scribe_err *err)
{
	return scribe_user_may(d, c->uid, SCRIBE_QUOTA_JOBS, err);
}

static int say_ready(struct scribe_daemon *d, struct scribe_client *c)
{
	static struct scribe_msg_ready ready;
	const struct scribe_job *job = c->run;

	/* receives the report */
	c->asks = c->run;
	snprintf(ready.socket, sizeof(ready.socket), "%s", job->config.runtime ? d->socket : "");
	ready.job = job->index;
	ready.survives = scribe_journal_is_open(&job->journal);
	ready.wrap = scribe_libs_counts_wrapped(&job->config);
	ready.no_streams = !scribe_libs_streams_wrapped(&job->config);
	return scribe_client_send(c, SCRIBE_MSG_READY, &ready, sizeof(ready));
}

static int on_begin(struct scribe_daemon *d, struct scribe_client *c, const char *text, size_t bytes)
{
	struct scribe_config config;
	struct scribe_err err = {0};
	bool able = true;
	int rc;

	if (c->run)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "a second RUN_BEGIN");
	/* this socket is for the job's runtime */
	if (!c->own && !d->service)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "not a message for this socket");
	rc = scribe_client_config(d, c, &config, &err);
	if (rc == 0)
		rc = scribe_config_text(&config, text, bytes, "options", &err);
	if (rc == 0) {
		rc = scribe_client_may_begin(d, c, &err);
		able = rc == 0;
	}
	if (rc < 0) {
		scribe_config_clear(&config);
	} else {
		scribe_client_old_keys(d, c, &config);
		scribe_client_limit(d, c, &config);
		rc = scribe_job_begin(d, &config, NULL, &c->run, &err);
		able = rc == 0;
	}
	d->under_way = rc == 0;
	if (rc == 0 && c->run->config.runtime && d->listen < 0)
		rc = scribe_clients_listen(d, &c->run->config, &err);
	/* once, and not earlier: loading the programs needs the privileges */
	if (rc == 0 && !d->sandboxed) {
		rc = scribe_sandbox(scribe_libs_role(&c->run->config), &err);
		d->sandboxed = rc == 0;
		if (rc == 0)
			scribe_bpf_keep_growing(d->bpf);
	}
	if (rc < 0)
		return scribe_client_refuse(c, able ? SCRIBE_ST_FAILED : SCRIBE_ST_UNABLE,
					    err.text[0] ? err.text : "cannot start");
	/* a reused process id has another start time */
	c->run->client.pid = c->pid;
	(void)scribe_procfs_start_ticks(c->uid, c->pid, &c->run->client.ticks);
	scribe_job_journal_begin(c->run, c, text, bytes);
	return say_ready(d, c);
}

int scribe_runlink_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index, const char *text,
			  size_t bytes, struct scribe_job **ret_job, struct scribe_err *err)
{
	struct scribe_config config;
	int rc = scribe_client_config(d, as, &config, err);

	if (rc == 0)
		rc = scribe_config_text(&config, text, bytes, "options", err);
	if (rc < 0) {
		scribe_config_clear(&config);
		return rc;
	}
	scribe_client_limit(d, as, &config);
	d->resuming = index + 1; /* 0: a new job */
	rc = scribe_job_begin(d, &config, NULL, ret_job, err);
	d->resuming = 0;
	if (rc == 0) {
		(*ret_job)->client.pid = as->pid;
		(*ret_job)->client.resumed = true;
	}
	return rc;
}

static int on_again(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_job *job = d->jobs;
	uint64_t ticks;

	(void)scribe_procfs_start_ticks(c->uid, c->pid, &ticks);
	while (job && !(job->client.resumed && job->client.pid == c->pid && job->client.ticks == ticks && ticks))
		job = job->next;
	if (c->run || !job)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "no job of this process waits for it");
	c->run = job;
	return say_ready(d, c);
}

/* All four user ids must be the peer's. */
static bool is_child_of(const struct scribe_client *c, pid_t pid)
{
	unsigned parent = 0, uid[4] = {0};
	char path[64], line[256];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		found += sscanf(line, "PPid: %u", &parent) == 1;
		found += sscanf(line, "Uid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4;
	}
	if (f)
		fclose(f);
	if (found != 2 || parent != (unsigned)c->pid)
		return false;
	return c->uid == 0 || (uid[0] == c->uid && uid[1] == c->uid && uid[2] == c->uid && uid[3] == c->uid);
}

static int enrol(struct scribe_client *c, pid_t pid)
{
	struct scribe_msg_enrolled ok = {0};
	struct scribe_err err = {0};

	/*
	 * Checked again because the search for libraries took time. The process id cannot have been reused: only
	 * the peer, its parent, can reap it.
	 */
	if (!c->own && !is_child_of(c, pid))
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "ENROL of a process that is no child of the asker's");
	if (scribe_job_enrol(c->run, pid, &ok.proc_id, &err) < 0)
		return scribe_client_refuse(c, SCRIBE_ST_UNABLE, err.text);
	return scribe_client_send(c, SCRIBE_MSG_ENROLLED, &ok, sizeof(ok));
}

static int on_enrol(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_enrol *m)
{
	struct scribe_err err = {0};

	if (!c->run)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "ENROL before RUN_BEGIN");
	if (!c->own && !is_child_of(c, m->pid))
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "ENROL of a process that is no child of the asker's");
	c->enrols = m->pid;
	/* attached at enrolment; errors are reported then */
	if (d->service)
		(void)scribe_sysattach_soon(d, &err);
	if (!scribe_libs_before(d, c->run, m->pid, m->words, c->id))
		return 0;
	c->enrols = 0;
	return enrol(c, m->pid);
}

void scribe_runlink_go_on(struct scribe_daemon *d, uint64_t client)
{
	struct scribe_client *c = d->clients;
	pid_t pid;

	/* the connection may be closed by now */
	while (c && (c->gone || c->id != client))
		c = c->next;
	if (!c || !c->enrols)
		return;
	pid = c->enrols;
	c->enrols = 0;
	if (!c->run || enrol(c, pid) < 0)
		scribe_client_hang_up(d, c);
}

int scribe_runlink_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h)
{
	const struct scribe_msg_end *end = (const void *)(h + 1);

	if (h->type == SCRIBE_MSG_RUN_BEGIN)
		return on_begin(d, c, (const char *)(h + 1), h->len);
	if (h->type == SCRIBE_MSG_RUN_REATTACH)
		return on_again(d, c);
	if (h->type == SCRIBE_MSG_ENROL)
		return on_enrol(d, c, (const void *)(h + 1));
	if (!c->run)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "END before RUN_BEGIN");
	c->run->client.resumed = false;
	/* the report of a job that has ended before END arrived is ready */
	if (c->run->state < SCRIBE_JOB_OVER)
		scribe_job_end(c->run, end->exit_grace_ms);
	else
		scribe_runlink_report(c->run);
	return 0;
}

/* `ioscribe run` was killed: its job ends with the last process, without a report. */
static void goes_on_alone(struct scribe_job *job)
{
	job->client.resumed = false;
	if (!job->client.first_proc_id)
		job->state = SCRIBE_JOB_OVER;
	else if (job->state < SCRIBE_JOB_ENDING)
		scribe_job_end(job, UINT32_MAX); /* without a time limit */
}

/* Extends the client's wait. */
static void report_building(struct scribe_client *c, uint64_t now)
{
	/* logs of worlds may be built before END, when the client does not read */
	if (c->gone || !c->run || c->asks != c->run || c->run->state < SCRIBE_JOB_ENDING ||
	    !scribe_deliver_building(c->run) || now - c->building_sent_ns < BUILDING_NS)
		return;
	c->building_sent_ns = now;
	(void)scribe_client_send(c, SCRIBE_MSG_BUILDING, NULL, 0);
}

void scribe_runlink_sweep(struct scribe_daemon *d)
{
	uint64_t ticks;

	for (struct scribe_client *c = d->clients; c; c = c->next)
		report_building(c, scribe_now_ns());
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (job->client.resumed && scribe_procfs_start_ticks(job->config.uid, job->client.pid, &ticks) &&
		    ticks != job->client.ticks)
			goes_on_alone(job);
}

void scribe_runlink_lost(struct scribe_daemon *d, struct scribe_client *c)
{
	if (c->run)
		goes_on_alone(c->run);
	c->run = c->asks = NULL;
	d->until_idle = d->until_idle || c->own;
}

static void report_to(struct scribe_client *c, const struct scribe_job *job, const struct scribe_msg_result *result)
{
	int rc = 0;

	for (size_t i = 0; i < job->logs && rc == 0; i++)
		rc = scribe_client_send(c, SCRIBE_MSG_LOG, &job->log[i], sizeof(job->log[i]));
	/* a hanging helper could still write a log after this */
	if (c->own)
		scribe_helpers_end_hung();
	if (rc == 0)
		scribe_client_send(c, SCRIBE_MSG_RESULT, result, sizeof(*result));
	c->asks = NULL;
	job->daemon->until_idle = job->daemon->until_idle || c->own;
}

void scribe_runlink_report(struct scribe_job *job)
{
	struct scribe_msg_result result = {.logs = (uint32_t)job->logs};
	struct scribe_ledger ledger;
	struct rusage usage;

	for (size_t i = 0; i < job->logs; i++)
		result.failed += job->log[i].text[0] != 0;
	snprintf(result.remote, sizeof(result.remote), "%s", job->worlds.remote);
	scribe_commit_partial(job, &ledger);
	result.events = ledger.v[SCRIBE_L_EVENTS];
	result.dropped = ledger.v[SCRIBE_L_DROP_NO_SLOT] + ledger.v[SCRIBE_L_IO_MISSED_CALLS];
	getrusage(RUSAGE_SELF, &usage);
	result.tracer_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	for (struct scribe_client *c = job->daemon->clients; c; c = c->next)
		if (c->asks == job && !c->gone)
			report_to(c, job, &result);
}
