/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the records of a unit: files of its ranks, reduction, process table, ledger. Runs in a snapshot of
 * the daemon. Must not know of files and paths of logs.
 */
#include "runtime/daemon/output/log_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "logfmt/records/quantum.h"
#include "runtime/daemon/events/modules.h"
#include "runtime/daemon/operations/budget.h"
#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/state/job_nodes.h"
#include "runtime/daemon/tables/heatmaps.h"

/* proc_id 0: the sum of unlisted processes. */
static uint64_t process_id(const struct scribe_job *job, uint32_t proc_id, char *ret_name, size_t cap)
{
	/* With the host: records of several nodes must differ. */
	int n = proc_id ? snprintf(ret_name, cap, "process:%s:%u", job->host, proc_id)
			: snprintf(ret_name, cap, "process:%s:others", job->host);

	return scribe_record_id(ret_name, (size_t)n);
}

static void add_totals(struct scribe_process_record *rec, const struct scribe_process_totals *t, uint32_t call_ns)
{
	rec->cpu_time = (double)t->cpu_ns / 1e9;
	rec->tracing_time = scribe_cost_in_programs(t, call_ns);
	rec->records = (int64_t)t->records;
	rec->overflowed_files = (int64_t)t->overflowed_files;
	rec->bytes_read = (int64_t)t->bytes_read;
	rec->bytes_written = (int64_t)t->bytes_written;
	rec->operations = (int64_t)t->operations;
}

int scribe_log_build_processes(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			       const struct scribe_log_account *a, uint64_t base_ns)
{
	char name[128];
	int rc = 0;

	for (const struct scribe_process *p = u->first; p && rc == 0; p = p->next) {
		struct scribe_process_record rec = {0};
		int core = (p->status >> 8 & 0xff) << 8 | (p->status & 0x7f);

		rec.base.id = process_id(job, p->proc_id, name, sizeof(name));
		rec.base.rank = p->rank ? p->rank->rank : 0;
		rec.proc_id = p->proc_id;
		rec.parent_serial = p->parent_serial;
		rec.pid = p->tgid;
		rec.uid = p->uid;
		rec.nranks_world = u->id ? scribe_log_unit_nprocs(u) : 0;
		rec.wait_status = core;
		rec.end_kind = p->end_kind;
		rec.start = scribe_quantum_round(scribe_seconds_between(base_ns, p->start_ns));
		rec.end = p->ended ? scribe_quantum_round(scribe_seconds_between(base_ns, p->end_ns)) : 0;
		add_totals(&rec, &p->totals, a->call_ns);
		if (!p->ended)
			rec.cpu_time = rec.tracing_time = -1;
		snprintf(rec.host, sizeof(rec.host), "%s", job->host);
		snprintf(rec.exe, sizeof(rec.exe), "%s", p->exe ? p->exe : p->comm);
		rc = scribe_bundle_add(b, SCRIBE_MOD_PROCESS, &rec, sizeof(rec));
	}
	if (rc == 0 && u->nsummed_processes) {
		struct scribe_process_record rec = {0};

		rec.base.id = process_id(job, 0, name, sizeof(name));
		rec.end_kind = SCRIBE_END_EXITED;
		add_totals(&rec, &u->summed_processes, a->call_ns);
		snprintf(rec.host, sizeof(rec.host), "%s", job->host);
		snprintf(rec.exe, sizeof(rec.exe), "(%llu more processes)", (unsigned long long)u->nsummed_processes);
		rc = scribe_bundle_add(b, SCRIBE_MOD_PROCESS, &rec, sizeof(rec));
	}
	return rc;
}

static uint64_t ledger_id(const struct scribe_job *job, char *ret_name, size_t cap)
{
	int n = snprintf(ret_name, cap, "ledger:%s", job->host);

	return scribe_record_id(ret_name, (size_t)n);
}

static double cpu_used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void scribe_log_build_account(const struct scribe_job *job, struct scribe_log_account *a)
{
	a->pid = getpid();
	a->cpu = cpu_used() + scribe_snapshots_cpu();
	if (job->daemon->bpf) {
		a->kernel_memory = (double)scribe_bpf_memory(job->daemon->bpf);
		a->misses = (double)(scribe_bpf_misses(job->daemon->bpf) - job->losses.misses_before);
		a->call_ns = scribe_bpf_call_ns(job->daemon->bpf);
		a->kernel_cpu = scribe_cost_so_far(job).tracing;
	}
	scribe_mounts_moved(&job->mounts, a->mount);
}

int scribe_log_build_ledger(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			    const struct scribe_log_account *a)
{
	const struct scribe_ledger *ledger = &a->ledger;
	struct scribe_ledger_record rec = {.base.rank = -1};
	char name[128];
	/* A running unit ends with the job's counting. */
	uint64_t end_ns = u->end_ns && !u->live ? u->end_ns : job->closed_ns, now = scribe_now_ns();

	rec.base.id = ledger_id(job, name, sizeof(name));
	for (int i = 0; i < SCRIBE_L_LATE_PROCS && i < SCRIBE_LEDGER_PLACES; i++)
		rec.counters[i] = (int64_t)ledger->v[i];
	rec.fcounters[SCRIBE_LEDGER_F_LATE_PROCS] = (double)ledger->v[SCRIBE_L_LATE_PROCS];
	rec.fcounters[SCRIBE_LEDGER_F_LATE_CALLS] = (double)ledger->v[SCRIBE_L_LATE_CALLS];
	/* In a snapshot, its own processor time is added. */
	rec.fcounters[SCRIBE_LEDGER_F_DAEMON_CPU] = a->cpu + (getpid() != a->pid ? cpu_used() : 0);
	rec.fcounters[SCRIBE_LEDGER_F_KERNEL_CPU] = a->kernel_cpu;
	rec.fcounters[SCRIBE_LEDGER_F_DRAIN_TIME] = (double)job->drain_ns / 1e9;
	rec.fcounters[SCRIBE_LEDGER_F_FINALIZE_TIME] = scribe_seconds_between(end_ns ? end_ns : now, now);
	rec.fcounters[SCRIBE_LEDGER_F_KERNEL_MEMORY] = a->kernel_memory;
	rec.fcounters[SCRIBE_LEDGER_F_PROGRAM_MISSES] = a->misses;
	return scribe_bundle_add(b, SCRIBE_MOD_LEDGER, &rec, sizeof(rec));
}

static uint64_t mount_id(const struct scribe_job *job, const char *path, char *ret_name, size_t cap)
{
	int n = snprintf(ret_name, cap, "mount:%s:%s", job->host, path);

	return scribe_record_id(ret_name, (size_t)n < cap ? (size_t)n : cap - 1);
}

static double seconds_of(int64_t us)
{
	return us < 0 ? -1 : (double)us / 1e6;
}

int scribe_log_build_mounts(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_account *a)
{
	static const struct {
		enum scribe_mounts_id counter;
		enum scribe_client_total total;
	} totals[] = {
		{SCRIBE_MOUNTS_CLIENT_BYTES_READ, SCRIBE_CLIENT_BYTES_READ},
		{SCRIBE_MOUNTS_CLIENT_BYTES_WRITTEN, SCRIBE_CLIENT_BYTES_WRITTEN},
		{SCRIBE_MOUNTS_CLIENT_REQUESTS, SCRIBE_CLIENT_REQUESTS},
		{SCRIBE_MOUNTS_CLIENT_ERRORS, SCRIBE_CLIENT_ERRORS},
	};
	char name[SCRIBE_LOG_BUILD_NAME];
	int rc = 0;

	for (size_t i = 0; i < job->mounts.n && rc == 0; i++) {
		const int64_t *total = a->mount[i].total;
		struct scribe_mounts_record rec = {.base.rank = -1};

		/* Every use of the file system makes requests, unless the client has all in its cache. */
		if (!a->mount[i].kept || !total[SCRIBE_CLIENT_REQUESTS])
			continue;
		rec.base.id = mount_id(job, job->mounts.mount[i].path, name, sizeof(name));
		rec.counters[SCRIBE_MOUNTS_SHARED] = job->mounts.shared;
		for (size_t k = 0; k < sizeof(totals) / sizeof(totals[0]); k++)
			rec.counters[totals[k].counter] = total[totals[k].total];
		rec.fcounters[SCRIBE_MOUNTS_F_CLIENT_RTT_TIME] = seconds_of(total[SCRIBE_CLIENT_RTT_US]);
		rec.fcounters[SCRIBE_MOUNTS_F_CLIENT_QUEUE_TIME] = seconds_of(total[SCRIBE_CLIENT_QUEUE_US]);
		rc = scribe_bundle_add(b, SCRIBE_MOD_MOUNTS, &rec, sizeof(rec));
	}
	return rc;
}

static bool mount_name(const struct scribe_job *job, uint64_t id, char *ret, size_t cap)
{
	for (size_t i = 0; i < job->mounts.n; i++)
		if (mount_id(job, job->mounts.mount[i].path, ret, cap) == id)
			return true;
	return false;
}

size_t scribe_log_build_name(const struct scribe_job *job, const struct scribe_bundled *rec, char *ret, size_t cap)
{
	switch (rec->module) {
	case SCRIBE_MOD_PROCESS:
		process_id(job, (uint32_t)((const struct scribe_process_record *)(const void *)rec->data)->proc_id, ret,
			   cap);
		break;
	case SCRIBE_MOD_LEDGER:
		ledger_id(job, ret, cap);
		break;
	case SCRIBE_MOD_MOUNTS:
		if (!mount_name(job, rec->id, ret, cap))
			return 0;
		break;
	default:
		return scribe_heatmaps_name(rec, ret, cap);
	}
	return strlen(ret);
}

/* Number of ranks to reduce over, also for a world of one rank, as in Darshan; 0: no reduction. */
static int64_t reduced_over(const struct scribe_job *job, const struct scribe_log_unit *u)
{
	/* Parts of several nodes are reduced when they are merged; `unshared` is Darshan's setting. */
	return u->id && !job->config.unshared && !scribe_node_parts_unit(job, u) ? scribe_log_unit_nprocs(u) : 0;
}

static int all_of_rank(struct scribe_job *job, struct scribe_rank *r, uint64_t base_ns, struct scribe_bundle *b,
		       uint64_t *partial)
{
	int rc = r->fetched && r->records ? scribe_records_join(r->fetched, r->records) : 0;

	if (rc == 0)
		rc = scribe_daemon_modules_records(job, r->rank, r->fetched ? r->fetched : r->records, base_ns, b);
	return rc < 0 ? rc : scribe_daemon_modules_rank(job, r, b, partial);
}

int scribe_log_build_deferred(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns,
			      struct scribe_bundle *b, uint64_t *partial)
{
	struct scribe_rank **ranks = NULL;
	size_t n = 0;
	int rc = scribe_log_unit_ranks(u, &ranks, &n);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = all_of_rank(job, ranks[i], base_ns, b, partial);
	free(ranks);
	return rc == 0 ? scribe_bundle_reduce(b, reduced_over(job, u)) : rc;
}

int scribe_log_build_late(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns, struct scribe_bundle *b,
			  uint64_t *partial)
{
	struct scribe_rank **ranks = NULL;
	size_t n = 0;
	int rc = scribe_log_unit_ranks(u, &ranks, &n);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = scribe_daemon_modules_records(job, ranks[i]->rank, ranks[i]->records, base_ns, b);
		if (rc == 0)
			rc = scribe_daemon_modules_rank(job, ranks[i], b, partial);
	}
	free(ranks);
	/* A file that every rank opened only now is shared, too. */
	if (rc == 0 && reduced_over(job, u) && (int64_t)u->ranks.used == reduced_over(job, u))
		rc = scribe_bundle_reduce(b, reduced_over(job, u));
	return rc;
}
