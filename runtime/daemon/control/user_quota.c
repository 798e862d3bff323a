/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one user may take of a service. Nothing is reserved: use is counted from the daemon's lists when needed;
 * shares of records and processes are set every SHARE_NS; helpers' processor time is a leaky bucket per user.
 * Must not know what resources are used for.
 */
#include "runtime/daemon/control/user_quota.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_queue.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/model/record_set.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/programs/shm_counters.h"

#define SHARE_NS         20000000ull
#define TIME_NS          500000000ull
#define AVERAGE_NS       10000000000ull
#define PLACES_OF_OTHERS 8u  /* the last eighth of the pool */
#define LITTLE           64u /* is for users with less than a 64th */
/* Pool, in users at their limit: more would exhaust the service's memory. */
#define FULL_USERS 2u

static const struct {
	const char *name, *what;
} quotas[] = {
#define SCRIBE_X(id, name, limit, what) {#name, what},
	SCRIBE_QUOTAS(SCRIBE_X)
#undef SCRIBE_X
};

struct scribe_user_time {
	uint32_t uid;
	uint64_t spent_ns;
};

/* uid + 1, because key 0 is not valid. */
static struct scribe_user_time *time_of(struct scribe_daemon *d, uid_t any)
{
	uint32_t uid = scribe_subuids_first(any);
	struct scribe_user_time *t = scribe_map_get(&d->user_times, uid + 1ull);

	if (!t && (t = calloc(1, sizeof(*t))) && scribe_map_put(&d->user_times, uid + 1ull, t) < 0) {
		free(t);
		return NULL;
	}
	if (t)
		t->uid = uid;
	return t;
}

static void each_helper(const struct scribe_daemon *d, void (*fn)(void *ctx, uint32_t uid, struct scribe_helper *h),
			void *ctx)
{
	for (struct scribe_job *job = d->jobs; job; job = job->next) {
		struct scribe_helper *const helpers[] = {&job->helper,
							 job->path_lookup.has_helper ? &job->path_lookup.helper : NULL,
							 job->exclusion.has_helper ? &job->exclusion.helper : NULL};

		for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
			if (helpers[i] && helpers[i]->sock >= 0)
				fn(ctx, job->config.uid, helpers[i]);
	}
	scribe_libs_searchers(d, fn, ctx);
}

struct counting {
	uint32_t uid;
	struct scribe_usage *of;
};

static void count_helper(void *ctx, uint32_t uid, struct scribe_helper *h)
{
	struct counting *c = ctx;

	(void)h;
	c->of->v[SCRIBE_QUOTA_HELPERS] += scribe_subuids_same(uid, c->uid);
}

static void count_files(struct scribe_job *job)
{
	uint64_t records = 0;

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (size_t i = 0; i < u->ranks.buckets; i++) {
			const struct scribe_rank *r = u->ranks.entry[i].value;

			records += r && r->records ? r->records->n : 0;
			records += r && r->fetched ? r->fetched->n : 0;
		}
	job->records = records;
	job->files = job->files_seen = scribe_job_files(job);
}

void scribe_user_usage(const struct scribe_daemon *d, uid_t uid, struct scribe_usage *ret)
{
	const struct scribe_user_time *t = scribe_map_get(&d->user_times, scribe_subuids_first(uid) + 1ull);
	struct counting counting = {uid, ret};
	uint64_t bytes = 0;

	*ret = (struct scribe_usage){0};
	for (const struct scribe_client *c = d->clients; c; c = c->next) {
		if (c->gone || !scribe_subuids_same(c->uid, uid))
			continue;
		ret->v[SCRIBE_QUOTA_CONNECTIONS]++;
		ret->v[SCRIBE_QUOTA_DESCRIPTORS] += 1 + (c->answer != NULL);
		bytes += c->send_queue.bytes;
	}
	for (const struct scribe_job *job = d->jobs; job; job = job->next) {
		const struct scribe_job_entry *entry =
			d->bpf && scribe_subuids_same(job->config.uid, uid) ? scribe_bpf_job(d->bpf, job->index) : NULL;

		if (!scribe_subuids_same(job->config.uid, uid))
			continue;
		ret->v[SCRIBE_QUOTA_JOBS] += job->config.locked;
		ret->v[SCRIBE_QUOTA_DESCRIPTORS] += scribe_journal_is_open(&job->journal);
		ret->v[SCRIBE_QUOTA_RECORDS] += entry ? entry->used : 0;
		ret->v[SCRIBE_QUOTA_PROCESSES] += entry ? entry->proc_used : 0;
		ret->v[SCRIBE_QUOTA_FILES] += job->files;
		bytes += job->journal.bytes;
	}
	ret->v[SCRIBE_QUOTA_MIB] = bytes >> 20;
	each_helper(d, count_helper, &counting);
	ret->v[SCRIBE_QUOTA_DESCRIPTORS] += ret->v[SCRIBE_QUOTA_HELPERS] + scribe_shm_counters_of_user(d, uid);
	ret->v[SCRIBE_QUOTA_HELPER_SHARE] = t ? t->spent_ns * 100 / AVERAGE_NS : 0;
}

uint64_t scribe_user_limit(const struct scribe_daemon *d, enum scribe_quota q)
{
	const struct scribe_config *c = &d->service->config;
	const uint64_t limits[] = {
#define SCRIBE_X(id, name, limit, what) limit,
		SCRIBE_QUOTAS(SCRIBE_X)
#undef SCRIBE_X
	};

	return limits[q];
}

/* 0: unlimited. */
static uint64_t pool_of(const struct scribe_daemon *d, enum scribe_quota q, uint64_t *ret_taken)
{
	uint64_t most;

	*ret_taken = 0;
	if (q == SCRIBE_QUOTA_JOBS) {
		for (const struct scribe_job *job = d->jobs; job; job = job->next)
			*ret_taken += job->config.locked;
		return SCRIBE_JOB_ORPHANED - SCRIBE_JOBS_OF_ROOT;
	}
	if (q == SCRIBE_QUOTA_CONNECTIONS) {
		for (const struct scribe_client *c = d->clients; c; c = c->next)
			*ret_taken += c->uid != 0;
		most = scribe_limits_descriptors() / 4;
		return most < SCRIBE_CLIENTS_MAX - SCRIBE_CLIENTS_OF_ROOT ? most
									  : SCRIBE_CLIENTS_MAX - SCRIBE_CLIENTS_OF_ROOT;
	}
	if (q == SCRIBE_QUOTA_FILES) {
		for (const struct scribe_job *job = d->jobs; job; job = job->next)
			*ret_taken += job->config.uid ? job->files : 0;
		return FULL_USERS * scribe_user_limit(d, q);
	}
	if (q == SCRIBE_QUOTA_MIB) {
		for (const struct scribe_job *job = d->jobs; job; job = job->next)
			*ret_taken += job->config.uid ? job->journal.bytes >> 20 : 0;
		return FULL_USERS * scribe_user_limit(d, q);
	}
	return 0;
}

int scribe_user_may(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q, struct scribe_err *err)
{
	struct scribe_usage own;
	uint64_t taken, pool;

	if (!d->service || uid == 0)
		return 0;
	scribe_user_usage(d, uid, &own);
	if (q == SCRIBE_QUOTA_SPOOL && d->spool)
		own.v[q] = scribe_spool_bytes(d->spool, uid) >> 20;
	if (own.v[q] >= scribe_user_limit(d, q))
		return scribe_err_set(err, -EDQUOT, "user %u has %llu %s here already (%s)", (unsigned)uid,
				      (unsigned long long)own.v[q], quotas[q].what, quotas[q].name);
	pool = pool_of(d, q, &taken);
	/* the end of the pool is reserved for users with little */
	if (pool && (taken >= pool || (taken >= pool - pool / PLACES_OF_OTHERS && own.v[q] >= pool / LITTLE)))
		return scribe_err_set(err, -EDQUOT,
				      "users have %llu of %llu %s here: the others are for those with fewer",
				      (unsigned long long)taken, (unsigned long long)pool, quotas[q].what);
	return 0;
}

void scribe_user_each(const struct scribe_daemon *d, void (*fn)(void *ctx, uid_t uid), void *ctx)
{
	struct scribe_map seen = {0};

	for (const struct scribe_job *job = d->jobs; job; job = job->next)
		if (!scribe_map_get(&seen, job->config.uid + 1ull) &&
		    scribe_map_put(&seen, job->config.uid + 1ull, (void *)(uintptr_t)job) == 0)
			fn(ctx, job->config.uid);
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		if (!c->gone && !scribe_map_get(&seen, c->uid + 1ull) &&
		    scribe_map_put(&seen, c->uid + 1ull, (void *)(uintptr_t)c) == 0)
			fn(ctx, c->uid);
	scribe_map_clear(&seen);
}

/* Current use plus an equal part of what is left, at most the job's own limit. */
static uint32_t share(uint32_t most, uint32_t used, uint64_t limit, uint64_t sum, uint64_t wanted, unsigned jobs)
{
	uint64_t left = limit > sum ? limit - sum : 0;

	if (wanted <= limit)
		return most;
	return used + left / jobs < most ? (uint32_t)(used + left / jobs) : most;
}

/* All jobs of a user share one limit. */
static void set_shares(void *ctx, uid_t uid)
{
	struct scribe_daemon *d = ctx;
	uint64_t records = 0, processes = 0, wanted_records = 0, wanted_processes = 0;
	unsigned jobs = 0;
	uint32_t most;

	for (struct scribe_job *job = d->jobs; job && uid; job = job->next) {
		const struct scribe_job_entry *entry =
			scribe_subuids_same(job->config.uid, uid) ? scribe_bpf_job(d->bpf, job->index) : NULL;

		if (!entry || !job->records_most || !job->processes_most)
			continue;
		jobs++;
		records += entry->used;
		processes += entry->proc_used;
		wanted_records += job->records_most;
		wanted_processes += job->processes_most;
	}
	for (struct scribe_job *job = d->jobs; job && jobs; job = job->next) {
		struct scribe_job_entry *entry =
			scribe_subuids_same(job->config.uid, uid) ? scribe_bpf_job(d->bpf, job->index) : NULL;

		if (!entry || !job->records_most || !job->processes_most)
			continue;
		__atomic_store_n(&entry->quota,
				 share(job->records_most, entry->used, scribe_user_limit(d, SCRIBE_QUOTA_RECORDS),
				       records, wanted_records, jobs),
				 __ATOMIC_RELAXED);
		most = share(job->processes_most, entry->proc_used, scribe_user_limit(d, SCRIBE_QUOTA_PROCESSES),
			     processes, wanted_processes, jobs);
		/* 0 would be unlimited */
		__atomic_store_n(&entry->proc_quota, most ? most : 1, __ATOMIC_RELAXED);
	}
}

static void charge(void *ctx, uint32_t uid, struct scribe_helper *h)
{
	struct scribe_user_time *t = uid ? time_of(ctx, uid) : NULL;
	struct timespec ts;
	uint64_t now;
	clockid_t clock;

	/* fails for an ended helper; a process that has reused its id is new */
	if (!t || h->pid <= 0 || clock_getcpuclockid(h->pid, &clock) || clock_gettime(clock, &ts) < 0)
		return;
	now = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
	if (now > h->cpu_ns)
		t->spent_ns += now - h->cpu_ns;
	h->cpu_ns = now;
}

static void allow(struct scribe_daemon *d, uint64_t elapsed_ns)
{
	uint64_t allowed = elapsed_ns * scribe_user_limit(d, SCRIBE_QUOTA_HELPER_SHARE) / 100;

	for (size_t i = 0; i < d->user_times.buckets; i++) {
		struct scribe_user_time *t = d->user_times.entry[i].value;

		if (t)
			t->spent_ns -= allowed < t->spent_ns ? allowed : t->spent_ns;
	}
}

static void limit_files(void *ctx, uid_t uid)
{
	struct scribe_daemon *d = ctx;
	const uint64_t most = scribe_user_limit(d, SCRIBE_QUOTA_FILES);
	bool full = scribe_user_may(d, uid, SCRIBE_QUOTA_FILES, NULL) < 0;
	uint64_t records = 0, all = 0;

	for (const struct scribe_job *job = d->jobs; job; job = job->next) {
		all += job->config.uid ? job->records : 0;
		records += scribe_subuids_same(job->config.uid, uid) ? job->records : 0;
	}
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (scribe_subuids_same(job->config.uid, uid)) {
			job->files_full = full;
			job->records_full = full && (records >= most || all >= FULL_USERS * most);
		}
}

struct giving_up {
	struct scribe_daemon *d;
	unsigned users;
};

static void count_user(void *ctx, uid_t uid)
{
	((struct giving_up *)ctx)->users += uid != 0;
}

/*
 * Keeps what is in the journal. Spares users below an equal part of one user's limit, half of the pool, even when it is
 * full.
 */
static void give_up_journal(void *ctx, uid_t uid)
{
	struct giving_up *g = ctx;
	struct scribe_daemon *d = g->d;
	struct scribe_job *largest = NULL;
	struct scribe_usage own;

	if (!uid)
		return;
	scribe_user_usage(d, uid, &own);
	if (own.v[SCRIBE_QUOTA_MIB] < SCRIBE_JOURNAL_SMALL >> 20 ||
	    own.v[SCRIBE_QUOTA_MIB] < scribe_user_limit(d, SCRIBE_QUOTA_MIB) / g->users ||
	    scribe_user_may(d, uid, SCRIBE_QUOTA_MIB, NULL) == 0)
		return;
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (scribe_subuids_same(job->config.uid, uid) && scribe_journal_is_open(&job->journal) &&
		    !scribe_journal_is_broken(&job->journal) &&
		    (!largest || job->journal.bytes > largest->journal.bytes))
			largest = job;
	if (!largest)
		return;
	largest->journal.head->broken = 1;
	fprintf(stderr,
		"ioscribed: user %u has %llu MiB of journals: job %u would be incomplete should "
		"the daemon die\n",
		(unsigned)uid, (unsigned long long)own.v[SCRIBE_QUOTA_MIB], largest->index);
}

void scribe_user_tick(struct scribe_daemon *d)
{
	struct giving_up g = {.d = d};
	uint64_t now = scribe_now_ns();

	if (!d->service || !d->bpf)
		return;
	/* relaxed: kernel programs read quotas in any order */
	if (now - d->user_shared_ns >= SHARE_NS) {
		d->user_shared_ns = now;
		scribe_user_each(d, set_shares, d);
	}
	if (now - d->user_timed_ns >= TIME_NS) {
		each_helper(d, charge, d);
		allow(d, d->user_timed_ns ? now - d->user_timed_ns : 0);
		d->user_timed_ns = now;
		scribe_user_each(d, count_user, &g);
		scribe_user_each(d, give_up_journal, &g);
		for (struct scribe_job *job = d->jobs; job; job = job->next)
			count_files(job);
		scribe_user_each(d, limit_files, d);
	}
}

void scribe_user_end(struct scribe_daemon *d)
{
	for (size_t i = 0; i < d->user_times.buckets; i++)
		free(d->user_times.entry[i].value);
	scribe_map_clear(&d->user_times);
}
