// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel's job table, which programs read at any time: an entry is complete before it becomes active
 * (bpf/user/job_table.c). Must not know how jobs start or end.
 */
#include "runtime/daemon/tables/job_table.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/privsep/procfs_reader.h"

int scribe_jobs_load(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err)
{
	struct scribe_bpf_options options = {.slots = c->records,
					     .procs = c->processes,
					     .level = scribe_bpf_level_of(c->bpf_attach_mode),
					     .inexact = c->attach_inexact,
					     .nobody_joins = !d->service,
					     .streams_reported = scribe_libs_streams_wrapped(c),
					     .verbose = d->verbose};
	char pins[128];
	int rc = 0;

	if (d->service && d->service->pin) {
		scribe_job_journal_pins(d->service->dir, pins, sizeof(pins));
		options.pins = pins;
	}
	if (!d->bpf) {
		rc = scribe_bpf_open(&options, &d->bpf, err);
		if (rc == 0) {
			(void)scribe_watch_edge(d->epoll, scribe_bpf_events_fd(d->bpf), &d->bpf);
		}
		if (rc == 0 && options.pins)
			scribe_build_keep(d->service->dir, d->service->config_file);
	}
	if (rc < 0 || d->slot)
		return rc;
	/* sizes for all jobs of this daemon; slot 0 is not used */
	d->processes = c->processes;
	d->slots = c->records + 1;
	d->slot = calloc(d->slots, sizeof(*d->slot));
	return d->slot ? 0 : scribe_err_set(err, -ENOMEM, "out of memory");
}

static int exclude_top(void *ctx, const char *name)
{
	struct scribe_err err;

	/* if its table is full the daemon drops such files later */
	(void)scribe_bpf_exclude_top(ctx, name, &err);
	return 0;
}

struct top {
	struct scribe_job *of;
	const char *name;
};

static int is_top(void *ctx, const char *name)
{
	const struct top *top = ctx;

	return strcmp(top->name, name) ? 0 : -EEXIST;
}

/* A directory that another job excludes, and this one possibly not. */
static int keep_common(void *ctx, const char *name)
{
	struct top top = {ctx, name};

	if (scribe_exclusions_tops(&top.of->config.paths, is_top, &top) == 0)
		scribe_bpf_include_top(top.of->daemon->bpf, name);
	return 0;
}

void scribe_job_table_exclude(struct scribe_daemon *d, struct scribe_job *job)
{
	if (d->jobs == job && !job->next) {
		scribe_bpf_include_top(d->bpf, NULL);
		scribe_exclusions_tops(&job->config.paths, exclude_top, d->bpf);
	}
	for (struct scribe_job *other = d->jobs; other; other = other->next)
		if (other != job)
			scribe_exclusions_tops(&other->config.paths, keep_common, job);
}

/* The inode of the directory is the cgroup's id. */
static int cgroup_number(const char *path, scribe_u64 *ret_number, struct scribe_err *err)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char full[SCRIBE_PATH_MAX + 64];
	struct stat st;

	/* both paths of a hybrid hierarchy */
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		struct statfs fs;

		snprintf(full, sizeof(full), "%s%s", strncmp(path, roots[i], strlen(roots[i])) ? roots[i] : "", path);
		if (statfs(full, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC && stat(full, &st) == 0 &&
		    S_ISDIR(st.st_mode)) {
			*ret_number = st.st_ino;
			return 0;
		}
	}
	return scribe_err_set(err, -ENOENT, "%.200s is no cgroup of version 2", path);
}

int scribe_job_table_match(const struct scribe_job *job, struct scribe_job_entry *entry, struct scribe_err *err)
{
	const struct scribe_job_spec *s = &job->spec;
	int rc;

	entry->uid = job->config.uid;
	entry->flags = (job->config.opt_out ? SCRIBE_JF_OPT_OUT : 0) |
		       (job->config.show_privileged ? SCRIBE_JF_SHOW_PRIVILEGED : 0) |
		       (job->segments ? SCRIBE_JF_SEGMENTS : 0);
	if (s->match_env[0]) {
		entry->match = SCRIBE_MATCH_ENV;
		entry->ancestor_pid = s->ancestor_pid;
		entry->ancestor_ticks = 0;
		if (s->ancestor_pid)
			(void)scribe_procfs_start_ticks(job->config.uid, (pid_t)s->ancestor_pid,
							&entry->ancestor_ticks);
		rc = scribe_job_set_variable(entry, s->match_env);
		return rc < 0 ? scribe_err_set(err, rc, "match_env: '%.60s' is not NAME=VALUE of at most %u bytes",
					       s->match_env, SCRIBE_VARIABLE_MAX - 1)
			      : 0;
	}
	if (!s->cgroup[0])
		return 0;
	entry->match = SCRIBE_MATCH_CGROUP;
	return cgroup_number(s->cgroup, &entry->cgroup, err);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void scribe_job_table_quotas(struct scribe_job *job, struct scribe_job_entry *entry)
{
	const struct scribe_config *c = &job->config;
	uint32_t pool = job->daemon->slots - 1, processes = job->daemon->processes;

	entry->quota = least(c->records, pool);
	if (!job->daemon->service)
		return;
	/* default: half of the pool, so that two jobs cannot lock out a third */
	entry->quota = least(entry->quota, c->job_records ? c->job_records : pool / 2);
	entry->proc_quota = c->job_processes ? c->job_processes : processes / 2;
	/* if root has set a limit: not shared with the user's other jobs */
	job->records_most = c->job_records == job->daemon->service->config.job_records ? entry->quota : 0;
	job->processes_most = c->job_processes == job->daemon->service->config.job_processes ? entry->proc_quota : 0;
}

void scribe_job_table_exclude_libraries(struct scribe_job *job)
{
	char path[SCRIBE_PATH_MAX];

	if (job->config.library[0])
		scribe_exclusions_exclude_path(&job->config.paths, job->config.library);
	if (scribe_libs_wrap_library(&job->config, path, sizeof(path)))
		scribe_exclusions_exclude_path(&job->config.paths, path);
}

void scribe_job_changed(struct scribe_job *job, uint32_t alignment_before)
{
	struct scribe_daemon *d = job->daemon;
	struct scribe_job_entry *entry = d->bpf ? scribe_bpf_job(d->bpf, job->index) : NULL;

	scribe_job_table_exclude_libraries(job);
	if (!entry)
		return;
	scribe_job_table_exclude(d, job);
	/* counts with another alignment cannot be converted */
	if (d->resuming)
		job->config.mem_alignment = entry->mem_align;
	else if (__atomic_load_n(&entry->files, __ATOMIC_ACQUIRE))
		job->config.mem_alignment = alignment_before;
	else
		__atomic_store_n(&entry->mem_align, job->config.mem_alignment, __ATOMIC_RELEASE);
}
