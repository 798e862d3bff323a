/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs from beginning to end: place in the kernel's table, identity, programs
 * attached while there is one, logs written, everything given back. Must not
 * know who asked for them, nor messages.
 */
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
#include "runtime/daemon/attrs.h"
#include "runtime/daemon/build.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/streams.h"
#include "runtime/daemon/deliver.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/limits.h"
#include "runtime/daemon/parts.h"
#include "runtime/daemon/spool.h"
#include "runtime/daemon/service.h"

#define JUDGED_NS 10000000000ull /* at the end of a job, for what its patterns say */

static int64_t realtime_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + real.tv_nsec - mono.tv_nsec;
}

static void free_rank(struct scribe_rank *r)
{
	scribe_records_free(r->records);
	scribe_records_free(r->fetched);
	scribe_core_free(r->core);
}

/* Nothing of the daemon points to the job any more. */
static void unlink_work(struct scribe_daemon *d, struct scribe_work *w)
{
	struct scribe_work **at = &d->works;

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
	for (struct scribe_unit *u = w->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			if (scribe_map_get(&d->by_tgid, (uint64_t)p->tgid) == p)
				scribe_map_take(&d->by_tgid, (uint64_t)p->tgid);
	for (uint32_t i = 0; d->slot && i < d->slots; i++)
		if (d->slot[i].label && d->slot[i].job == w->index)
			d->slot[i] = (struct scribe_slot_name){0};
}

void scribe_work_free(struct scribe_work *w)
{
	if (!w)
		return;
	scribe_keep_forget(w);
	if (w->daemon)
		unlink_work(w->daemon, w);
	if (w->daemon && w->daemon->bpf)
		scribe_bpf_forget_job(w->daemon->bpf, w->index);
	scribe_deliver_clear(w);
	if (w->daemon)
		scribe_streams_end_work(w->daemon, w);
	scribe_worlds_clear(&w->worlds, free_rank);
	scribe_labels_clear(&w->labels);
	scribe_shapes_clear(&w->shapes);
	scribe_mounts_clear(&w->mounts);
	scribe_config_clear(&w->config);
	scribe_attrs_free(w->attrs);
	scribe_hand_stop(&w->hand);
	scribe_look_end(w);
	scribe_judge_end(w);
	free(w->log);
	free(w);
}

struct scribe_work *scribe_work_by_id(struct scribe_daemon *d, const char *id, uid_t uid)
{
	struct scribe_work *found = NULL;
	int best = 0;

	for (struct scribe_work *w = id[0] ? d->works : NULL; w; w = w->next) {
		int rank = 1 + 2 * (w->config.locked == (uid != 0)) + !w->over;

		if (strcmp(w->spec.id, id) || (uid && w->config.uid != uid) || rank < best)
			continue;
		found = w;
		best = rank;
	}
	return found;
}

int scribe_work_start_hand(const struct scribe_work *w, struct scribe_hand *ret_hand, struct scribe_err *err)
{
	const struct scribe_config *c = &w->config;

	/* the name that a user gives gets him no groups */
	return scribe_hand_start(ret_hand, c->uid, c->gid, c->locked ? "" : c->user, err);
}

int scribe_work_hand(struct scribe_work *w, struct scribe_err *err)
{
	return w->hand.sock >= 0 ? 0 : scribe_work_start_hand(w, &w->hand, err);
}

int scribe_work_fresh_hand(struct scribe_work *w, struct scribe_err *err)
{
	scribe_hand_stop(&w->hand);
	return scribe_work_hand(w, err);
}

static struct scribe_work *work_new(struct scribe_daemon *d, struct scribe_config *config,
				    const struct scribe_job_spec *spec, struct scribe_err *err)
{
	struct scribe_work *w = calloc(1, sizeof(*w)), **at = &d->works;
	uint32_t index = d->resuming ? d->resuming - 1 : 0;

	while (index < SCRIBE_JOB_NOBODY && d->work[index])
		index++;
	if (!w || index == SCRIBE_JOB_NOBODY) {
		free(w);
		scribe_config_clear(config);
		scribe_err_set(err, w ? -EAGAIN : -ENOMEM, w ? "%u jobs are traced already" : "out of memory",
			       SCRIBE_JOB_NOBODY);
		return NULL;
	}
	w->daemon = d;
	w->index = index;
	w->hand = (struct scribe_hand){.pid = -1, .sock = -1};
	w->config = *config;
	if (spec) {
		w->spec = *spec;
		w->number = strtoll(spec->id, NULL, 10); /* "12_3" and "12.host" are job 12 */
	}
	if (w->config.job_number[0])
		w->number = strtoll(w->config.job_number, NULL, 10);
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
	d->begun++;
	return w;
}

int scribe_works_load(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err)
{
	struct scribe_bpf_options options = {.slots = c->records,
					     .procs = c->processes,
					     .level = scribe_bpf_level_of(c->level),
					     .nobody_joins = !d->service,
					     .verbose = d->verbose};
	char pins[128];
	int rc = 0;

	if (d->service && d->service->pin) {
		scribe_keep_pins(d->service->dir, pins, sizeof(pins));
		options.pins = pins;
	}
	if (!d->bpf) {
		rc = scribe_bpf_open(&options, &d->bpf, err);
		if (rc == 0)
			scribe_loop_watch_kernel(d);
		if (rc == 0 && options.pins)
			scribe_build_keep(d->service->dir, d->service->config_file);
	}
	if (rc < 0 || d->slot)
		return rc;
	d->processes = c->processes;
	d->slots = c->records + 1;
	d->slot = calloc(d->slots, sizeof(*d->slot));
	return d->slot ? 0 : scribe_err_set(err, -ENOMEM, "out of memory");
}

static int exclude_top(void *ctx, const char *name)
{
	struct scribe_err err;

	/* what the kernel has no room for is dropped here */
	(void)scribe_bpf_exclude_top(ctx, name, &err);
	return 0;
}

struct top {
	struct scribe_work *of;
	const char *name;
};

static int is_top(void *ctx, const char *name)
{
	const struct top *top = ctx;

	return strcmp(top->name, name) ? 0 : -EEXIST;
}

/* Another job excludes this; the new one does not: the kernel may no longer drop it. */
static int keep_common(void *ctx, const char *name)
{
	struct top top = {ctx, name};

	if (scribe_exclusions_tops(&top.of->config.paths, is_top, &top) == 0)
		scribe_bpf_include_top(top.of->daemon->bpf, name);
	return 0;
}

/* The kernel alone drops only what every job excludes. */
static void set_tops(struct scribe_daemon *d, struct scribe_work *w)
{
	if (d->works == w && !w->next) {
		scribe_bpf_include_top(d->bpf, NULL);
		scribe_exclusions_tops(&w->config.paths, exclude_top, d->bpf);
	}
	for (struct scribe_work *other = d->works; other; other = other->next)
		if (other != w)
			scribe_exclusions_tops(&other->config.paths, keep_common, w);
}

/* Its cgroup's number, as the kernel compares it. */
static int cgroup_number(const char *path, scribe_u64 *ret_number, struct scribe_err *err)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char full[SCRIBE_PATH_MAX + 64];
	struct stat st;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		struct statfs fs;

		snprintf(full, sizeof(full), "%s%s",
			 strncmp(path, roots[i], strlen(roots[i])) ? roots[i] : "", path);
		if (statfs(full, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC && stat(full, &st) == 0 &&
		    S_ISDIR(st.st_mode)) {
			*ret_number = st.st_ino;
			return 0;
		}
	}
	return scribe_err_set(err, -ENOENT, "%.200s is no cgroup of version 2", path);
}

uint64_t scribe_start_ticks(uint32_t pid)
{
	unsigned long long ticks = 0;
	char path[64], text[1024];
	const char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f) && (at = strrchr(text, ')')) &&
	    sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		ticks = 0;
	if (f)
		fclose(f);
	return ticks;
}

/* Who joins the job when it executes a program. */
static int set_match(const struct scribe_work *w, struct scribe_job *job, struct scribe_err *err)
{
	const struct scribe_job_spec *s = &w->spec;
	int rc;

	job->uid = w->config.uid;
	job->flags = (w->config.opt_out ? SCRIBE_JF_OPT_OUT : 0) |
		     (w->config.show_privileged ? SCRIBE_JF_SHOW_PRIVILEGED : 0);
	if (s->match_env[0]) {
		job->match = SCRIBE_MATCH_ENV;
		job->below = s->below;
		job->below_ticks = s->below ? scribe_start_ticks(s->below) : 0;
		rc = scribe_job_set_variable(job, s->match_env);
		return rc < 0 ? scribe_err_set(err, rc,
					       "match_env: '%.60s' is not NAME=VALUE of at most %u bytes",
					       s->match_env, SCRIBE_VARIABLE_MAX - 1)
			      : 0;
	}
	if (!s->cgroup[0])
		return 0;
	job->match = SCRIBE_MATCH_CGROUP;
	return cgroup_number(s->cgroup, &job->cgroup, err);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What the job may hold. Among many no job may take all: what it floods is its own share. */
static void set_quotas(const struct scribe_work *w, struct scribe_job *job)
{
	const struct scribe_config *c = &w->config;
	uint32_t pool = w->daemon->slots - 1, processes = w->daemon->processes;

	job->quota = least(c->records, pool);
	if (!w->daemon->service)
		return;
	job->quota = least(job->quota, c->job_records ? c->job_records : pool / 2);
	job->reserve = c->job_reserve;
	job->proc_quota = c->job_processes ? c->job_processes : processes / 2;
}

/* Its own libraries' loading is not the job's I/O. */
static void exclude_libraries(struct scribe_work *w)
{
	char path[SCRIBE_PATH_MAX];

	if (w->config.library[0])
		scribe_exclusions_exclude_path(&w->config.paths, w->config.library);
	if (scribe_libs_inside_library(&w->config, path, sizeof(path)))
		scribe_exclusions_exclude_path(&w->config.paths, path);
}

void scribe_work_changed(struct scribe_work *w, uint32_t alignment_before)
{
	struct scribe_daemon *d = w->daemon;
	struct scribe_job *job = d->bpf ? scribe_bpf_job(d->bpf, w->index) : NULL;
	struct scribe_ledger ledger = {0};

	exclude_libraries(w);
	if (!job)
		return;
	set_tops(d, w);
	scribe_bpf_ledger(d->bpf, w->index, &ledger);
	/* what has been counted by another alignment, of living threads or of ended ones, stays so */
	if (d->resuming)
		w->config.mem_alignment = job->mem_align;
	else if (__atomic_load_n(&job->used, __ATOMIC_ACQUIRE) || ledger.v[SCRIBE_L_EVENTS])
		w->config.mem_alignment = alignment_before;
	else
		__atomic_store_n(&job->mem_align, w->config.mem_alignment, __ATOMIC_RELEASE);
}

static int start(struct scribe_daemon *d, struct scribe_work *w, struct scribe_err *err)
{
	struct scribe_job job = {.active = 1};
	bool first = d->works == w && !w->next;
	int rc = scribe_limits_check(err);

	if (rc < 0)
		return rc;
	exclude_libraries(w);
	if (scribe_worlds_init(&w->worlds, w->config.listed) < 0)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	/* a service waits for nobody's file system when a job begins */
	rc = d->service ? 0 : scribe_work_hand(w, err);
	if (rc == 0 && !d->service)
		rc = scribe_place_check(w, err);
	if (rc == 0)
		rc = scribe_works_load(d, d->service ? &d->service->config : &w->config, err);
	if (rc < 0)
		return rc;
	scribe_mounts_read(&w->mounts, w->daemon->root > 0 ? "/proc/1/mounts" : "/etc/mtab");
	set_quotas(w, &job);
	job.mem_align = w->config.mem_alignment;
	job.all_types = w->config.all_types;
	job.tell_maps = strcmp(w->config.libraries, "none") != 0;
	rc = set_match(w, &job, err);
	if (rc < 0)
		return rc;
	/* one that is taken up stands in the kernel's table already */
	w->misses_before = scribe_bpf_misses(d->bpf);
	rc = d->resuming ? 0 : scribe_bpf_set_job(d->bpf, w->index, &job);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot describe the job to the kernel: %s",
				      scribe_strerror(rc));
	set_tops(d, w);
	if (first)
		rc = scribe_bpf_attach(d->bpf, err);
	if (rc == 0 && d->confined)
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
	scribe_libs_stop(d, true);
	scribe_bpf_detach(d->bpf);
}

int scribe_work_begin(struct scribe_daemon *d, struct scribe_config *config,
		      const struct scribe_job_spec *spec, struct scribe_work **ret_work,
		      struct scribe_err *err)
{
	struct scribe_work *w = work_new(d, config, spec, err);
	int rc = w ? start(d, w, err) : err->code;

	if (rc < 0) {
		scribe_work_free(w);
		detach_if_idle(d);
		return rc;
	}
	*ret_work = w;
	return 0;
}

int scribe_work_enrol(struct scribe_work *w, pid_t pid, uint32_t words, uint32_t *ret_serial,
		      struct scribe_err *err)
{
	struct scribe_daemon *d = w->daemon;
	uint32_t index, serial;
	int rc;

	scribe_libs_before(d, w, pid, words);
	rc = scribe_bpf_enrol(d->bpf, pid, w->index, &index, &serial, err);
	if (rc < 0)
		return rc;
	if (!scribe_events_enrolled(d, w, index, serial, pid))
		return scribe_err_set(err, -ENOMEM, "out of memory");
	if (!w->first_serial) {
		w->first_serial = serial;
		if (!w->spec.id[0] && !w->config.job_number[0])
			w->number = pid;
	}
	*ret_serial = serial;
	return 0;
}

void scribe_work_end(struct scribe_work *w, uint32_t grace_ms)
{
	w->ending = true;
	w->ending_deadline_ns =
		grace_ms == UINT32_MAX ? UINT64_MAX : scribe_now_ns() + (uint64_t)grace_ms * 1000000;
	scribe_keep_ending(w);
}

/* What goes on behind a written log is not recorded. */
static void silence(struct scribe_work *w)
{
	for (struct scribe_unit *u = w->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next) {
			struct scribe_proc *proc = scribe_bpf_proc(w->daemon->bpf, p->index);

			p->disabled = true;
			if (!p->ended && proc && proc->serial == p->serial)
				__atomic_fetch_or(&proc->flags, SCRIBE_PF_DISABLED, __ATOMIC_RELAXED);
		}
}

/* Is it time? Its last process is gone, or waiting for that has an end. */
static bool is_due(const struct scribe_daemon *d, const struct scribe_work *w)
{
	if (d->asked_to_end)
		return true;
	return w->ending && (!w->worlds.living || scribe_now_ns() >= w->ending_deadline_ns);
}

/* Its last records become logs; it is over when these are where they belong. */
static void finish(struct scribe_work *w)
{
	if (!w->closed_ns) {
		scribe_bpf_close_job(w->daemon->bpf, w->index);
		scribe_clients_serve_all(w->daemon);
		scribe_events_take(w->daemon);
		w->closed_ns = scribe_now_ns();
	}
	if (!w->finishing) {
		if (scribe_judge_busy(w) && scribe_now_ns() - w->closed_ns < JUDGED_NS)
			return;
		scribe_judge_end(w);
		scribe_events_ends(w);
		scribe_commit_due(w, true);
		silence(w);
		w->finishing = true;
		scribe_deliver_tick(w);
	}
	if (scribe_deliver_busy(w))
		return;
	if (scribe_parts_job(w) && !w->told_done) {
		w->told_done = true;
		scribe_deliver_done(w);
		return;
	}
	w->over = true;
	scribe_runlink_report(w);
}

bool scribe_works_left(const struct scribe_daemon *d)
{
	return d->service && d->service->pin && d->asked_to_end == SIGTERM && d->works;
}

void scribe_works_tick(struct scribe_daemon *d)
{
	struct scribe_work *w, *next;
	bool idle = true;

	d->hurry = false;
	if (scribe_works_left(d)) {
		d->quit = true;
		return;
	}

	for (w = d->works; w; w = w->next) {
		if (scribe_parts_job(w) && !w->told_begun && w->worlds.by_serial.used) {
			w->told_begun = true;
			scribe_deliver_begun(w);
		}
		scribe_judge_tick(w);
		scribe_events_ends(w);
		if (!w->over && !w->finishing)
			scribe_commit_due(w, false);
		scribe_attrs_tick(w);
		scribe_deliver_tick(w);
		if (!w->over && (w->closed_ns || is_due(d, w)))
			finish(w);
		d->hurry = d->hurry || scribe_deliver_busy(w) || scribe_judge_busy(w);
		idle = idle && w->over;
	}
	if (d->spool)
		scribe_spool_tick(d->spool);
	for (w = d->works; w; w = next) {
		next = w->next;
		if (w->over && !w->worlds.living && !w->awaited)
			scribe_work_free(w);
	}
	detach_if_idle(d);
	if (idle && (d->until_idle || d->asked_to_end) && !scribe_clients_waiting(d))
		d->quit = true;
}
