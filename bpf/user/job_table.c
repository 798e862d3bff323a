// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel's job table: matching at exec, quotas, reserves. Kernel programs read entries at any time:
 * `active` is 0 while one changes. Main thread. Must not know names or logs.
 */
#include <errno.h>
#include <string.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"

/* The minimum, and the share of a job that sets none. */
static uint32_t reserve_least(const struct scribe_bpf *b)
{
	return b->opt.slots / 64 + 16;
}

/* Pool entries for catch-alls and shards only; each job has a share. */
static void set_reserve(struct scribe_bpf *b)
{
	uint32_t sum = reserve_least(b), shares = 0;

	for (uint32_t i = 0; i < SCRIBE_JOBS_MAX; i++)
		shares += scribe_job_of(b, i)->reserve;
	if (shares > sum)
		sum = shares;
	b->ctl->slots.reserve = sum < b->opt.slots / 2 ? sum : b->opt.slots / 2;
	(void)scribe_bpf_grow_value_tables(b); /* if it fails, records use the catch-all, which is counted */
}

/* False: not matched. A bit separates cgroups from uids. */
static bool watch_key(const struct scribe_job_entry *job, uint64_t *ret_key)
{
	if (!job->active || job->match == SCRIBE_MATCH_NONE)
		return false;
	*ret_key = job->match == SCRIBE_MATCH_CGROUP ? job->cgroup | SCRIBE_WATCH_CGROUP : job->uid;
	return true;
}

/* Rewrites the entry of `key`, which lists all its jobs. */
static int watch_write(struct scribe_bpf *b, uint64_t key)
{
	struct scribe_match_entry w = {0};

	for (uint32_t i = 0; i < SCRIBE_JOBS_MAX; i++) {
		uint64_t other;

		if (watch_key(scribe_job_of(b, i), &other) && other == key)
			w.job[w.n++] = i;
	}
	if (w.n)
		return scribe_map_update(b->watches_fd, &key, &w, BPF_ANY) ? -errno : 0;
	return scribe_map_delete(b->watches_fd, &key) && errno != ENOENT ? -errno : 0;
}

static void count_watched(struct scribe_bpf *b)
{
	uint32_t all = 0, cgroups = 0;

	for (uint32_t i = 0; i < SCRIBE_JOBS_MAX; i++) {
		const struct scribe_job_entry *job = scribe_job_of(b, i);
		uint64_t key;

		if (!watch_key(job, &key))
			continue;
		all++;
		cgroups += job->match == SCRIBE_MATCH_CGROUP;
	}
	/* The exec program does nothing while `watching` is 0: stored last. */
	__atomic_store_n(&b->ctl->watching_cgroups, cgroups, __ATOMIC_RELEASE);
	__atomic_store_n(&b->ctl->watching, all, __ATOMIC_RELEASE);
}

static int replace(struct scribe_bpf *b, uint32_t index, const struct scribe_job_entry *job)
{
	struct scribe_job_entry *at = scribe_job_of(b, index);
	uint64_t was, is;
	bool had = watch_key(at, &was), has;
	int rc = 0;

	__atomic_store_n(&at->active, 0, __ATOMIC_RELEASE);
	at->quota = job->quota;
	at->mem_align = job->mem_align;
	at->all_types = job->all_types;
	at->notify_exec_mmap = job->notify_exec_mmap;
	at->match = job->match;
	at->flags = job->flags;
	at->uid = job->uid;
	at->ancestor_pid = job->ancestor_pid;
	at->ancestor_ticks = job->ancestor_ticks;
	at->cgroup = job->cgroup;
	at->reserve = job->reserve ? job->reserve : reserve_least(b);
	at->proc_quota = job->proc_quota ? job->proc_quota : UINT32_MAX;
	at->variable_bytes = job->variable_bytes;
	memcpy(at->variable, job->variable, sizeof(at->variable));
	__atomic_store_n(&at->active, job->active, __ATOMIC_RELEASE);
	has = watch_key(at, &is);
	if (had && (!has || is != was))
		rc = watch_write(b, was);
	if (has && rc == 0)
		rc = watch_write(b, is);
	count_watched(b);
	set_reserve(b);
	return rc;
}

int scribe_job_set_variable(struct scribe_job_entry *job, const char *text)
{
	size_t n = strlen(text);
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || n >= SCRIBE_VARIABLE_MAX)
		return -EINVAL;
	memset(job->variable, 0, sizeof(job->variable));
	memcpy(job->variable, text, n);
	job->variable_bytes = (uint32_t)n;
	return 0;
}

int scribe_bpf_set_job(struct scribe_bpf *b, uint32_t index, const struct scribe_job_entry *job)
{
	if (index >= SCRIBE_JOB_ORPHANED || job->variable_bytes >= SCRIBE_VARIABLE_MAX)
		return -EINVAL;
	if (job->match == SCRIBE_MATCH_ENV && !memchr(job->variable, '=', job->variable_bytes))
		return -EINVAL;
	return replace(b, index, job);
}

void scribe_bpf_close_job(struct scribe_bpf *b, uint32_t index)
{
	struct scribe_job_entry job;

	if (index >= SCRIBE_JOB_ORPHANED)
		return;
	job = *scribe_job_of(b, index);
	job.match = SCRIBE_MATCH_NONE;
	replace(b, index, &job);
}

/* Returns how many processes were moved to the orphans. */
static uint32_t hand_over(struct scribe_bpf *b, uint32_t index)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < b->procs.entries; i++) {
		struct scribe_proc *p = scribe_bpf_proc(b, i);

		if (!p->proc_id || p->job != index)
			continue;
		__atomic_fetch_or(&p->flags, SCRIBE_PF_DISABLED, __ATOMIC_SEQ_CST);
		/* Disabled first: under the new index they must not be recorded. */
		__atomic_store_n(&p->job, SCRIBE_JOB_ORPHANED, __ATOMIC_RELEASE);
		n++;
	}
	return n;
}

int scribe_bpf_drop_job(struct scribe_bpf *b, uint32_t index)
{
	static const struct scribe_job_entry none;
	struct scribe_job_entry *at = scribe_job_of(b, index);
	int rc;

	if (index >= SCRIBE_JOB_ORPHANED)
		return -EINVAL;
	rc = replace(b, index, &none);
	/* a fork under way may have read its parent's job before: repeat until none is found */
	while (hand_over(b, index))
		;
	at->reserve = 0;
	at->used = at->kept = at->proc_used = at->files = at->linked = 0;
	at->links++; /* invalidates cached strings for the index's next job */
	set_reserve(b);
	return rc;
}

int scribe_bpf_jobs_begin(struct scribe_bpf *b)
{
	struct scribe_job_entry *nobody = scribe_job_of(b, SCRIBE_JOB_ORPHANED);

	nobody->proc_quota = UINT32_MAX;
	set_reserve(b);
	return 0;
}
