/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs from beginning to end: place in the kernel's table, identity, programs that see processes
 * attached while there is one, logs written, everything given back. A job's state only advances;
 * each turn of the loop moves it on as far as nothing has to be waited for. struct scribe_job owns
 * almost all that belongs to the job; scribe_job_free() frees it. Main thread of the daemon. Must
 * not know who asked for them, nor messages.
 */
#include "runtime/daemon/jobs/lifecycle.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/daemon/collect/syscall_attach.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/collect/shm_counters.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/collect/library_queue.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/collect/heatmaps.h"
#include "runtime/daemon/collect/segments.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/privsep/snapshot.h"
#include "logfmt/base/clock.h"
#include "runtime/daemon/collect/events.h"
#include "runtime/daemon/collect/job_table.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/collect/held_events.h"
#include "runtime/daemon/lookup/path_lookup.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/log_finalize.h"
#include "runtime/daemon/state/job_nodes.h"

#define JUDGED_NS 10000000000ull /* at the end of a job, for what its patterns say */

/* Taken once a job: all its times are CLOCK_MONOTONIC. */
static int64_t realtime_offset(void)
{
	const int64_t mono = (int64_t)scribe_now_ns();
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - mono;
}

/* The part of a rank that lower components allocate; the worlds free the rest. */
static void free_rank(struct scribe_rank *r)
{
	scribe_records_free(r->records);
	scribe_records_free(r->fetched);
	scribe_core_free(r->core);
	scribe_segments_forget(r);
	scribe_heatmaps_forget(r);
}

/*
 * Nothing of the daemon points to the job any more. Connections, processes and slot names may
 * outlive it.
 */
static void unlink_work(struct scribe_daemon *d, struct scribe_job *w)
{
	struct scribe_job **at = &d->works;

	while (*at && *at != w)
		at = &(*at)->next;
	if (*at)
		*at = w->next;
	if (d->work[w->index] == w)
		d->work[w->index] = NULL;
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		if (c->run == w)
			c->run = NULL;
		if (c->asks == w)
			c->asks = NULL;
		if (c->work == w)
			c->work = NULL;
	}
	for (struct scribe_log_unit *u = w->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			if (scribe_map_get(&d->by_tgid, (uint64_t)p->tgid) == p)
				scribe_map_take(&d->by_tgid, (uint64_t)p->tgid);
	for (uint32_t i = 0; d->slot && i < d->slots; i++)
		if (d->slot[i].label && d->slot[i].job == w->index)
			d->slot[i] = (struct scribe_slot_name){0};
}

/*
 * Pointers to the job go first; what lower components hold of it (memories, deliveries) before the
 * worlds that they point into.
 */
void scribe_job_free(struct scribe_job *w)
{
	if (!w)
		return;
	scribe_job_journal_forget(w);
	if (w->daemon)
		unlink_work(w->daemon, w);
	if (w->daemon && w->daemon->bpf)
		scribe_bpf_forget_job(w->daemon->bpf, w->index);
	scribe_deliver_clear(w);
	if (w->daemon)
		scribe_shm_counters_end_work(w->daemon, w);
	scribe_worlds_clear(&w->worlds, free_rank);
	scribe_segments_end(w);
	scribe_name_table_clear(&w->labels);
	scribe_links_clear(&w->links);
	scribe_access_patterns_clear(&w->patterns);
	scribe_mounts_clear(&w->mounts);
	scribe_config_clear(&w->config);
	scribe_file_xattrs_free(w->file_xattrs);
	scribe_helper_stop(&w->helper);
	scribe_path_lookup_end(w);
	scribe_held_clear(w);
	scribe_exclusion_check_end(w);
	free(w->log);
	free(w);
}

/*
 * Several may have the number: one of the peer's own kind is preferred, then one that is not over.
 */
struct scribe_job *scribe_job_by_id(struct scribe_daemon *d, const char *id, uid_t uid)
{
	struct scribe_job *found = NULL;
	int best = 0;

	for (struct scribe_job *w = id[0] ? d->works : NULL; w; w = w->next) {
		int rank = 1 + 2 * (w->config.locked == (uid != 0)) + (w->state < SCRIBE_JOB_OVER);

		if (strcmp(w->spec.id, id) || (uid && w->config.uid != uid) || rank < best)
			continue;
		found = w;
		best = rank;
	}
	return found;
}

/*
 * The configuration's lists become the job's, or are freed on failure. A resumed job gets its old
 * index.
 */
static struct scribe_job *work_new(struct scribe_daemon *d, struct scribe_config *config,
				    const struct scribe_job_spec *spec, struct scribe_err *err)
{
	struct scribe_job *w = calloc(1, sizeof(*w)), **at = &d->works;
	uint32_t index = d->resuming ? d->resuming - 1 : 0;

	while (index < SCRIBE_JOB_ORPHANED && d->work[index])
		index++;
	if (!w || index == SCRIBE_JOB_ORPHANED) {
		free(w);
		scribe_config_clear(config);
		scribe_err_set(err, w ? -EAGAIN : -ENOMEM, w ? "%u jobs are traced already" : "out of memory",
			       SCRIBE_JOB_ORPHANED);
		return NULL;
	}
	w->daemon = d;
	w->index = index;
	w->helper = (struct scribe_helper){.pid = -1, .sock = -1};
	w->config = *config;
	if (spec) {
		w->spec = *spec;
		w->log_job_id = strtoll(spec->id, NULL, 10); /* "12_3" and "12.host" are job 12 */
	}
	if (w->config.job_number[0])
		w->log_job_id = strtoll(w->config.job_number, NULL, 10);
	w->begun_ns = scribe_now_ns();
	memset(config, 0, sizeof(*config));
	if (w->spec.node[0])
		strcpy(w->host, w->spec.node);
	else
		gethostname(w->host, sizeof(w->host) - 1);
	w->realtime_ns = realtime_offset();
	while (*at)
		at = &(*at)->next;
	*at = w;
	d->work[index] = w;
	d->jobs_started++;
	return w;
}

/*
 * The entry in the kernel's table comes before the process programs: a process could join at once.
 */
static int start(struct scribe_daemon *d, struct scribe_job *w, struct scribe_err *err)
{
	struct scribe_job_entry job = {.active = 1};
	bool first = d->works == w && !w->next;
	int rc = scribe_limits_check(err);

	if (rc < 0)
		return rc;
	scribe_job_table_exclude_libraries(w);
	if (scribe_worlds_init(&w->worlds, w->config.max_listed_processes) < 0)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	/* a service waits for nobody's file system when a job begins */
	rc = d->service ? 0 : scribe_job_helper(w, err);
	if (rc == 0 && !d->service)
		rc = scribe_log_path_check(w, err);
	if (rc == 0)
		rc = scribe_jobs_load(d, d->service ? &d->service->config : &w->config, err);
	if (rc < 0)
		return rc;
	rc = scribe_segments_begin(w, err);
	if (rc < 0)
		return rc;
	scribe_mounts_read(&w->mounts, w->daemon->root > 0 ? "/proc/1/mounts" : "/etc/mtab");
	scribe_job_table_quotas(w, &job);
	job.mem_align = w->config.mem_alignment;
	job.all_types = w->config.all_types;
	job.notify_exec_mmap = strcmp(w->config.trace_libraries, "none") != 0;
	rc = scribe_job_table_match(w, &job, err);
	if (rc < 0)
		return rc;
	/* one that is taken up stands in the kernel's table already */
	w->misses_before = scribe_bpf_misses(d->bpf);
	rc = d->resuming ? 0 : scribe_bpf_set_job(d->bpf, w->index, &job);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot describe the job to the kernel: %s",
				      scribe_strerror(rc));
	scribe_job_table_exclude(d, w);
	if (first)
		rc = scribe_bpf_attach_processes(d->bpf, err);
	if (rc == 0 && (!d->service || d->service->config.attach_at_begin))
		rc = scribe_attend_now(d, err);
	if (rc == 0 && d->sandboxed)
		scribe_bpf_keep_growing(d->bpf);
	if (rc == 0)
		scribe_libs_start(d, d->service ? &d->service->config : &w->config);
	return rc;
}

/* A node without jobs pays nothing. */
static void detach_if_idle(struct scribe_daemon *d)
{
	if (d->works || !d->bpf)
		return;
	if (d->service)
		scribe_libs_idle(d);
	else
		scribe_libs_stop(d, true);
	scribe_attend_end(d);
	scribe_bpf_detach(d->bpf);
}

/* On failure everything is given back, and the configuration is freed. */
int scribe_job_begin(struct scribe_daemon *d, struct scribe_config *config,
		      const struct scribe_job_spec *spec, struct scribe_job **ret_work,
		      struct scribe_err *err)
{
	struct scribe_job *w = work_new(d, config, spec, err);
	int rc = w ? start(d, w, err) : err->code;

	if (rc < 0) {
		scribe_job_free(w);
		detach_if_idle(d);
		return rc;
	}
	*ret_work = w;
	return 0;
}

/* Programs are attached first, or calls of the process would be missed. */
int scribe_job_enrol(struct scribe_job *w, pid_t pid, uint32_t *ret_serial, struct scribe_err *err)
{
	struct scribe_daemon *d = w->daemon;
	uint32_t index, proc_id;
	int rc;

	rc = scribe_attend_soon(d, err);
	if (rc < 0)
		return rc;
	rc = scribe_bpf_enrol(d->bpf, pid, w->index, &index, &proc_id, err);
	if (rc < 0)
		return rc;
	if (!scribe_events_enrolled(d, w, index, proc_id, pid))
		return scribe_err_set(err, -ENOMEM, "out of memory");
	if (!w->first_proc_id) {
		w->first_proc_id = proc_id;
		if (!w->spec.id[0] && !w->config.job_number[0])
			w->log_job_id = pid;
	}
	*ret_serial = proc_id;
	return 0;
}

/* May be called again with another grace time. UINT32_MAX: until the last process has ended. */
void scribe_job_end(struct scribe_job *w, uint32_t exit_grace_ms)
{
	if (w->state < SCRIBE_JOB_ENDING)
		w->state = SCRIBE_JOB_ENDING;
	w->ending_deadline_ns =
		exit_grace_ms == UINT32_MAX ? UINT64_MAX : scribe_now_ns() + (uint64_t)exit_grace_ms * 1000000;
	scribe_job_journal_ending(w);
}

/* What goes on behind a written log is not recorded. */
static void silence(struct scribe_job *w)
{
	for (struct scribe_log_unit *u = w->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next) {
			struct scribe_proc *proc = scribe_bpf_proc(w->daemon->bpf, p->index);

			p->disabled = true;
			if (!p->ended && proc && proc->proc_id == p->proc_id)
				__atomic_fetch_or(&proc->flags, SCRIBE_PF_DISABLED, __ATOMIC_RELAXED);
		}
}

/*
 * Is it time? Its last process is gone, or waiting for that has an end. The deadline bounds the
 * wait for processes that never end. A signal to the daemon ends all jobs, unless they are left to
 * the next daemon.
 */
static bool is_due(const struct scribe_daemon *d, const struct scribe_job *w)
{
	if (d->asked_to_end)
		return true;
	return w->state >= SCRIBE_JOB_ENDING && (!w->worlds.living || scribe_now_ns() >= w->ending_deadline_ns);
}

/* Closed, and not over yet. */
static bool is_ending(const struct scribe_job *w)
{
	return w->state >= SCRIBE_JOB_CLOSED && w->state < SCRIBE_JOB_OVER;
}

/*
 * Nothing more comes into it; what came waits in the ring and in its processes' sockets.
 * `closed_at` is the ring's end now: when it has been read, no event of the job is outstanding.
 */
static void close_job(struct scribe_job *w)
{
	struct scribe_bpf *bpf = w->daemon->bpf;

	scribe_bpf_close_job(bpf, w->index);
	w->state = SCRIBE_JOB_CLOSED;
	w->closed_ns = scribe_now_ns();
	w->closed_at = scribe_bpf_put(bpf);
}

/*
 * All that came into it has been taken, and judged. At most JUDGED_NS after the end; what is
 * unknown then stays in the log.
 */
static bool is_known(struct scribe_job *w)
{
	if (w->held.first && scribe_now_ns() - w->closed_ns >= JUDGED_NS)
		scribe_events_release(w);
	if (scribe_held_taken(w) < w->closed_at || w->leaving)
		return false;
	return !scribe_exclusion_check_busy(w) || scribe_now_ns() - w->closed_ns >= JUDGED_NS;
}

/* Windows and publishers before logs, since committing frees what they refer to. */
static void finalize(struct scribe_job *w)
{
	struct scribe_daemon *d = w->daemon;

	scribe_libs_seek_cut(d, w);
	scribe_exclusion_check_end(w);
	scribe_events_ends(w);
	scribe_turns_share(&d->turns, SCRIBE_TURN_ENDS);
	if (w->leaving) /* those that were waited for until now have very many records */
		return;
	scribe_segments_tick(w, true);
	scribe_segments_publish_rest(w);
	scribe_daemon_windows_closed(w);
	scribe_commit_due(w, true);
	scribe_turns_share(&d->turns, SCRIBE_TURN_COMMIT);
	silence(w);
	w->state = SCRIBE_JOB_FINALIZING;
	scribe_deliver_tick(w);
	scribe_turns_share(&d->turns, SCRIBE_TURN_BUILD);
}

/*
 * Its last records become logs; it is over when these are where they belong. It goes on at a
 * later turn, since events and messages are taken by the loop alone.
 */
static void finish(struct scribe_job *w)
{
	if (w->state < SCRIBE_JOB_CLOSED) {
		close_job(w);
		return;
	}
	if (w->state == SCRIBE_JOB_CLOSED && is_known(w))
		finalize(w);
	if (w->state < SCRIBE_JOB_FINALIZING || scribe_deliver_busy(w))
		return;
	if (scribe_node_parts_job(w) && w->state < SCRIBE_JOB_TELLING) {
		w->state = SCRIBE_JOB_TELLING;
		scribe_deliver_done(w);
		return;
	}
	w->state = SCRIBE_JOB_OVER;
	scribe_daemon_report(w);
}

/* SIGTERM with --pin: jobs are left to the next daemon. */
bool scribe_jobs_left(const struct scribe_daemon *d)
{
	return d->service && d->service->pin && d->asked_to_end == SIGTERM && d->works;
}

/* Once a turn. poll_fast asks for a short wait, since helpers' answers are polled. */
void scribe_jobs_tick(struct scribe_daemon *d)
{
	struct scribe_job *w, *next;
	bool idle = true;

	scribe_attend_tick(d);
	scribe_snapshots_reap();
	if (scribe_jobs_left(d)) {
		for (w = d->works; w; w = w->next)
			scribe_events_release(w);
		d->quit = true;
		return;
	}

	scribe_libs_seek_tick(d);
	d->poll_fast = d->poll_fast || scribe_libs_seeking(d) || scribe_libs_busy(d);

	scribe_turns_share(&d->turns, SCRIBE_TURN_WORKS);
	for (w = d->works; w; w = w->next) {
		if (scribe_node_parts_job(w) && !w->told_begun && w->worlds.by_proc_id.used) {
			w->told_begun = true;
			scribe_deliver_begun(w);
		}
		scribe_exclusion_check_tick(w);
		scribe_events_ends(w);
		scribe_turns_share(&d->turns, SCRIBE_TURN_ENDS);
		if (w->state < SCRIBE_JOB_FINALIZING)
			scribe_commit_due(w, false);
		scribe_turns_share(&d->turns, SCRIBE_TURN_COMMIT);
		scribe_file_xattrs_tick(w);
		scribe_turns_share(&d->turns, SCRIBE_TURN_WORKS);
		scribe_deliver_tick(w);
		scribe_turns_share(&d->turns, SCRIBE_TURN_BUILD);
		if (is_ending(w) || (w->state < SCRIBE_JOB_OVER && is_due(d, w)))
			finish(w);
		scribe_turns_share(&d->turns, SCRIBE_TURN_WORKS);
		d->poll_fast = d->poll_fast || is_ending(w) || w->leaving || w->held.first || scribe_deliver_busy(w) ||
			       scribe_exclusion_check_busy(w);
		idle = idle && w->state == SCRIBE_JOB_OVER;
	}
	if (d->spool)
		scribe_spool_tick(d->spool);
	for (w = d->works; w; w = next) {
		next = w->next;
		if (w->state == SCRIBE_JOB_OVER && !w->worlds.living && !w->awaits_client)
			scribe_job_free(w);
	}
	scribe_turns_share(&d->turns, SCRIBE_TURN_FREE);
	detach_if_idle(d);
	if (idle && (d->until_idle || d->asked_to_end) && !scribe_daemon_has_to_say(d))
		d->quit = true;
}
