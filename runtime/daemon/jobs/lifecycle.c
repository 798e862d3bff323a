/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs from begin to end. A job's state only advances, in each loop iteration as far as possible without
 * waiting. Must not know clients or messages.
 */
#include "runtime/daemon/jobs/lifecycle.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/selftest_mark.h"
#include "runtime/core/core.h"
#include "runtime/daemon/attach/library_queue.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/events/events.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/lookup/path_lookup.h"
#include "runtime/daemon/operations/budget.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/output/log_finalize.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/job_nodes.h"
#include "runtime/daemon/state/receivers.h"
#include "runtime/daemon/tables/folder_load.h"
#include "runtime/daemon/tables/heatmaps.h"
#include "runtime/daemon/tables/held_events.h"
#include "runtime/daemon/tables/job_table.h"

#define JUDGED_NS 10000000000ull /* after the end of a job, for pending exclusion checks */

/* All times of a job are CLOCK_MONOTONIC. */
static int64_t realtime_offset(void)
{
	const int64_t mono = (int64_t)scribe_now_ns();
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - mono;
}

static void free_rank(struct scribe_rank *r)
{
	scribe_records_free(r->records);
	scribe_records_free(r->fetched);
	scribe_core_free(r->core);
	scribe_segments_forget(r);
	scribe_heatmaps_forget(r);
}

/* Removes all pointers to the job: connections, processes and slot names may outlive it. */
static void unlink_work(struct scribe_daemon *d, struct scribe_job *job)
{
	struct scribe_job **at = &d->jobs;

	while (*at && *at != job)
		at = &(*at)->next;
	if (*at)
		*at = job->next;
	if (d->job[job->index] == job)
		d->job[job->index] = NULL;
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		if (c->run == job)
			c->run = NULL;
		if (c->asks == job)
			c->asks = NULL;
		if (c->job == job)
			c->job = NULL;
	}
	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			if (scribe_map_get(&d->by_tgid, (uint64_t)p->tgid) == p)
				scribe_map_take(&d->by_tgid, (uint64_t)p->tgid);
	for (uint32_t i = 0; d->slot && i < d->slots; i++)
		if (d->slot[i].name && d->slot[i].job == job->index)
			d->slot[i] = (struct scribe_slot_name){0};
}

void scribe_job_free(struct scribe_job *job)
{
	if (!job)
		return;
	scribe_job_journal_forget(job);
	/* Pointers first; then what refers to the worlds, before the worlds themselves. */
	if (job->daemon)
		unlink_work(job->daemon, job);
	if (job->daemon && job->daemon->bpf)
		scribe_bpf_forget_job(job->daemon->bpf, job->index);
	scribe_deliver_clear(job);
	if (job->daemon)
		scribe_shm_counters_end_work(job->daemon, job);
	scribe_worlds_clear(&job->worlds, free_rank);
	scribe_receivers_end(job);
	scribe_name_table_clear(&job->names);
	scribe_links_clear(&job->links);
	scribe_access_patterns_clear(&job->patterns);
	scribe_mounts_clear(&job->mounts);
	scribe_folder_load_free(job);
	scribe_config_clear(&job->config);
	scribe_file_xattrs_free(job->file_xattrs);
	scribe_helper_stop(&job->helper);
	scribe_path_lookup_end(job);
	scribe_held_clear(job);
	scribe_exclusion_check_end(job);
	free(job->log);
	free(job);
}

struct scribe_job *scribe_job_by_id(struct scribe_daemon *d, const char *id, uid_t uid)
{
	struct scribe_job *found = NULL;
	int best = 0;

	for (struct scribe_job *job = id[0] ? d->jobs : NULL; job; job = job->next) {
		/* Prefer a job begun by the same kind of peer, then one that is not over. */
		int rank = 1 + 2 * (job->config.locked == (uid != 0)) + (job->state < SCRIBE_JOB_OVER);

		if (strcmp(job->spec.id, id) || (uid && job->config.uid != uid) || rank < best)
			continue;
		found = job;
		best = rank;
	}
	return found;
}

/* Consumes the configuration. A resumed job gets its former index. */
static struct scribe_job *work_new(struct scribe_daemon *d, struct scribe_config *config,
				   const struct scribe_job_spec *spec, struct scribe_err *err)
{
	struct scribe_job *job = calloc(1, sizeof(*job)), **at = &d->jobs;
	uint32_t index = d->resuming ? d->resuming - 1 : 0;

	while (index < SCRIBE_JOB_ORPHANED && d->job[index])
		index++;
	if (!job || index == SCRIBE_JOB_ORPHANED) {
		free(job);
		scribe_config_clear(config);
		scribe_err_set(err, job ? -EAGAIN : -ENOMEM, job ? "%u jobs are traced already" : "out of memory",
			       SCRIBE_JOB_ORPHANED);
		return NULL;
	}
	job->daemon = d;
	job->index = index;
	job->helper = (struct scribe_helper){.pid = -1, .sock = -1};
	job->config = *config;
	if (spec) {
		job->spec = *spec;
		job->log_job_id = strtoll(spec->id, NULL, 10); /* "12_3" and "12.host": 12 */
	}
	if (job->config.job_number[0])
		job->log_job_id = strtoll(job->config.job_number, NULL, 10);
	job->begun_ns = scribe_now_ns();
	memset(config, 0, sizeof(*config));
	if (job->spec.node[0])
		strcpy(job->host, job->spec.node);
	else
		gethostname(job->host, sizeof(job->host) - 1);
	job->realtime_ns = realtime_offset();
	for (; *at; at = &(*at)->next)
		(*at)->mounts.shared = job->mounts.shared = true;
	*at = job;
	d->job[index] = job;
	d->jobs_started++;
	return job;
}

static int start(struct scribe_daemon *d, struct scribe_job *job, struct scribe_err *err)
{
	struct scribe_job_entry entry = {.active = 1};
	bool first = d->jobs == job && !job->next;
	int rc = scribe_limits_check(err);

	if (rc < 0)
		return rc;
	scribe_job_table_exclude_libraries(job);
	if (scribe_worlds_init(&job->worlds, job->config.max_listed_processes) < 0)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	/* A service must not wait for a file system when a job begins. */
	rc = d->service ? 0 : scribe_job_helper(job, err);
	if (rc == 0 && !d->service)
		rc = scribe_log_path_check(job, err);
	if (rc == 0)
		rc = scribe_jobs_load(d, d->service ? &d->service->config : &job->config, err);
	if (rc < 0)
		return rc;
	rc = scribe_segments_begin(job, err);
	if (rc < 0)
		return rc;
	scribe_mounts_read(&job->mounts, d->root > 0 ? "/proc/1/mounts" : "/proc/self/mounts");
	if (!d->resuming)
		scribe_mounts_begin(&job->mounts, "", d->root > 0 ? "1" : "self");
	scribe_job_table_quotas(job, &entry);
	entry.mem_align = job->config.mem_alignment;
	entry.all_types = job->config.all_types;
	entry.notify_exec_mmap = strcmp(job->config.trace_libraries, "none") != 0;
	rc = scribe_job_table_match(job, &entry, err);
	if (rc < 0)
		return rc;
	job->losses.misses_before = scribe_bpf_misses(d->bpf);
	rc = d->resuming ? 0 : scribe_bpf_set_job(d->bpf, job->index, &entry);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot describe the job to the kernel: %s", scribe_strerror(rc));
	/* Before the programs are attached: then a process can join. */
	scribe_job_table_exclude(d, job);
	if (first)
		rc = scribe_bpf_attach_processes(d->bpf, err);
	if (rc == 0 && (!d->service || d->service->config.attach_at_begin))
		rc = scribe_sysattach_now(d, err);
	if (rc == 0 && d->sandboxed)
		scribe_bpf_keep_growing(d->bpf);
	if (rc == 0)
		scribe_libs_start(d, d->service ? &d->service->config : &job->config);
	return rc;
}

/* Without jobs a node must not have any overhead. */
static void detach_if_idle(struct scribe_daemon *d)
{
	if (d->jobs || !d->bpf)
		return;
	if (d->service)
		scribe_libs_idle(d);
	else
		scribe_libs_stop(d, true);
	scribe_sysattach_end(d);
	scribe_bpf_detach(d->bpf);
}

/* A job that has begun goes on. */
static int may_begin(const struct scribe_daemon *d, struct scribe_err *err)
{
	if (!d->service || !d->service->config.require_selftest || d->resuming ||
	    scribe_selftest_passed(d->service->dir))
		return 0;
	return scribe_err_set(err, -EAGAIN,
			      "the self-test has not passed on this kernel (require_selftest): "
			      "run ioscribe doctor --selftest as root");
}

int scribe_job_begin(struct scribe_daemon *d, struct scribe_config *config, const struct scribe_job_spec *spec,
		     struct scribe_job **ret_job, struct scribe_err *err)
{
	struct scribe_job *job;
	int rc = may_begin(d, err);

	if (rc < 0) {
		scribe_config_clear(config);
		return rc;
	}
	job = work_new(d, config, spec, err);
	rc = job ? start(d, job, err) : err->code;
	if (rc < 0) {
		scribe_job_free(job);
		detach_if_idle(d);
		return rc;
	}
	*ret_job = job;
	return 0;
}

int scribe_job_enrol(struct scribe_job *job, pid_t pid, uint32_t *ret_serial, struct scribe_err *err)
{
	struct scribe_daemon *d = job->daemon;
	const struct scribe_process *has;
	uint32_t index, proc_id;
	int rc;

	/* Attach first, otherwise calls of the process are missed. */
	rc = scribe_sysattach_soon(d, err);
	if (rc < 0)
		return rc;
	rc = scribe_bpf_enrol(d->bpf, pid, job->index, &index, &proc_id, err);
	has = rc == -EEXIST ? scribe_map_get(&d->by_tgid, (uint64_t)pid) : NULL;
	if (has)
		return scribe_err_set(err, rc, "process %d: job %s records it already", (int)pid,
				      has->job->spec.id[0] ? has->job->spec.id : "of another `ioscribe run`");
	if (rc < 0)
		return rc;
	if (!scribe_events_enrolled(d, job, index, proc_id, pid))
		return scribe_err_set(err, -ENOMEM, "out of memory");
	if (!job->client.first_proc_id) {
		job->client.first_proc_id = proc_id;
		if (!job->spec.id[0] && !job->config.job_number[0])
			job->log_job_id = pid;
	}
	*ret_serial = proc_id;
	return 0;
}

void scribe_job_end(struct scribe_job *job, uint32_t exit_grace_ms)
{
	if (job->state < SCRIBE_JOB_ENDING)
		job->state = SCRIBE_JOB_ENDING;
	job->ending_deadline_ns =
		exit_grace_ms == UINT32_MAX ? UINT64_MAX : scribe_now_ns() + (uint64_t)exit_grace_ms * 1000000;
	scribe_job_journal_ending(job);
}

/* I/O after the log is written does not count. */
static void silence(struct scribe_job *job)
{
	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next) {
			p->disabled = true;
			scribe_bpf_disable(job->daemon->bpf, p->index, p->proc_id);
		}
}

/* The last process has ended, or the deadline has passed; a signal to the daemon ends all jobs. */
static bool is_due(const struct scribe_daemon *d, const struct scribe_job *job)
{
	if (d->asked_to_end)
		return true;
	return job->state >= SCRIBE_JOB_ENDING && (!job->worlds.living || scribe_now_ns() >= job->ending_deadline_ns);
}

static bool is_ending(const struct scribe_job *job)
{
	return job->state >= SCRIBE_JOB_CLOSED && job->state < SCRIBE_JOB_OVER;
}

/* From now on events of this job are not produced. */
static void close_job(struct scribe_job *job)
{
	struct scribe_bpf *bpf = job->daemon->bpf;

	scribe_bpf_close_job(bpf, job->index);
	job->state = SCRIBE_JOB_CLOSED;
	job->closed_ns = scribe_now_ns();
	/* When the ring is read up to here, no event of the job is outstanding. */
	job->closed_at = scribe_bpf_put(bpf);
	job->daemon->poll_now = true;
}

/* All events are taken and checked. After JUDGED_NS unchecked names stay in the log. */
static bool is_known(struct scribe_job *job)
{
	if (job->held.first && scribe_now_ns() - job->closed_ns >= JUDGED_NS)
		scribe_events_release(job);
	if (scribe_held_taken(job) < job->closed_at || job->leaving)
		return false;
	return !scribe_exclusion_check_busy(job) || scribe_now_ns() - job->closed_ns >= JUDGED_NS;
}

static void finalize(struct scribe_job *job)
{
	struct scribe_daemon *d = job->daemon;

	scribe_libs_search_cut(d, job);
	scribe_exclusion_check_end(job);
	scribe_events_ends(job);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_ENDS);
	if (job->leaving) /* processes with very many records are still being drained */
		return;
	/* Windows and publishers before logs, because committing frees what they refer to. */
	scribe_segments_tick(job, true);
	scribe_segments_publish_rest(job);
	scribe_daemon_windows_closed(job);
	scribe_commit_due(job, true);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_COMMIT);
	silence(job);
	job->state = SCRIBE_JOB_FINALIZING;
	scribe_deliver_tick(job);
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_BUILD);
}

static void finish(struct scribe_job *job)
{
	if (job->state < SCRIBE_JOB_CLOSED) {
		/* Only the loop takes events and messages, so the rest follows later. */
		close_job(job);
		return;
	}
	if (job->state == SCRIBE_JOB_CLOSED && is_known(job))
		finalize(job);
	if (job->state < SCRIBE_JOB_FINALIZING || scribe_deliver_busy(job))
		return;
	if (scribe_node_parts_job(job) && job->state < SCRIBE_JOB_TELLING) {
		job->state = SCRIBE_JOB_TELLING;
		scribe_deliver_done(job);
		return;
	}
	job->state = SCRIBE_JOB_OVER;
	scribe_daemon_report(job);
}

bool scribe_jobs_left(const struct scribe_daemon *d)
{
	return d->service && d->service->pin && d->asked_to_end == SIGTERM && d->jobs;
}

void scribe_jobs_tick(struct scribe_daemon *d)
{
	struct scribe_job *job, *next;
	bool idle = true;

	scribe_sysattach_tick(d);
	scribe_snapshots_reap();
	if (scribe_jobs_left(d)) {
		for (job = d->jobs; job; job = job->next)
			scribe_events_release(job);
		d->quit = true;
		return;
	}

	scribe_libs_search_tick(d);
	/* Answers of helpers are polled. */
	d->poll_fast = d->poll_fast || scribe_libs_searching(d) || scribe_libs_busy(d);

	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_WORKS);
	for (job = d->jobs; job; job = job->next) {
		if (scribe_node_parts_job(job) && !job->begun_reported && job->worlds.by_proc_id.used) {
			job->begun_reported = true;
			scribe_deliver_begun(job);
		}
		scribe_budget_tick(job);
		scribe_exclusion_check_tick(job);
		scribe_events_ends(job);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_ENDS);
		if (job->state < SCRIBE_JOB_FINALIZING)
			scribe_commit_due(job, false);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_COMMIT);
		scribe_file_xattrs_tick(job);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_WORKS);
		scribe_deliver_tick(job);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_BUILD);
		if (is_ending(job) || (job->state < SCRIBE_JOB_OVER && is_due(d, job)))
			finish(job);
		scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_WORKS);
		d->poll_fast = d->poll_fast || is_ending(job) || job->leaving || job->held.first ||
			       scribe_deliver_busy(job) || scribe_exclusion_check_busy(job);
		idle = idle && job->state == SCRIBE_JOB_OVER;
	}
	if (d->spool)
		scribe_spool_tick(d->spool);
	for (job = d->jobs; job; job = next) {
		next = job->next;
		if (job->state == SCRIBE_JOB_OVER && !job->worlds.living && !job->client.resumed)
			scribe_job_free(job);
	}
	scribe_iterations_share(&d->iterations, SCRIBE_ITERATION_FREE);
	detach_if_idle(d);
	if (idle && (d->until_idle || d->asked_to_end) && !scribe_daemon_has_pending(d))
		d->quit = true;
}
