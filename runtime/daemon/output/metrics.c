// SPDX-License-Identifier: BSD-3-Clause
/*
 * The metrics file of a service, for Prometheus' node exporter. Once per interval all records are counted, a part per
 * loop iteration; then a helper with root's identity writes the file, so that the loop does not wait for its file
 * system. Must not know the text.
 */
#include "runtime/daemon/output/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/events/live_walk.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/metrics_text.h"
#include "runtime/daemon/privsep/helper.h"
#include "runtime/daemon/tables/folder_load.h"

#define WALK_NS 300000ull /* per loop iteration */
#define PUT_MS  5000

struct scribe_metrics {
	struct scribe_helper helper;
	char path[SCRIBE_PATH_MAX], partial[SCRIBE_PATH_MAX + 16];
	uint64_t interval_ns, next_ns, failures;
	time_t started_s;
	enum { WAITING, WALKING, PUTTING } state;
	bool failing;
	uint32_t at; /* index of the job being counted */
	bool at_begun;
	struct scribe_live_cursor cursor; /* within the job */
	struct scribe_job_metrics now, job[SCRIBE_JOBS_MAX];
};

struct scribe_metrics *scribe_metrics_open(const struct scribe_config *c)
{
	struct scribe_metrics *m = c->metrics_file[0] ? calloc(1, sizeof(*m)) : NULL;

	if (!m)
		return NULL;
	m->helper.sock = -1;
	m->started_s = time(NULL);
	m->interval_ns = c->metrics_interval_s * 1000000000ull;
	snprintf(m->path, sizeof(m->path), "%s", c->metrics_file);
	snprintf(m->partial, sizeof(m->partial), "%s_partial", c->metrics_file);
	return m;
}

struct scribe_metrics *scribe_metrics_free(struct scribe_metrics *m)
{
	if (m)
		scribe_helper_stop(&m->helper);
	free(m);
	return NULL;
}

static bool add(void *ctx, enum scribe_live_item type, const void *item, size_t bytes)
{
	struct scribe_job_metrics *j = ctx;
	const struct scribe_live_process *p = item;
	const struct scribe_live_record *r = item;

	(void)bytes;
	/* what is already collected of a living process; its record items hold the rest */
	if (type == SCRIBE_LIVE_PROCESS) {
		j->v[SCRIBE_JOB_METRIC_OPERATIONS] += (double)p->collected.operations;
		j->v[SCRIBE_JOB_METRIC_READ] += (double)p->collected.bytes[0];
		j->v[SCRIBE_JOB_METRIC_WRITTEN] += (double)p->collected.bytes[1];
		j->v[SCRIBE_JOB_METRIC_OPENS] += (double)p->collected.opens;
		j->v[SCRIBE_JOB_METRIC_STATS] += (double)p->collected.stats;
		return true;
	}
	j->v[SCRIBE_JOB_METRIC_OPERATIONS] += (double)r->operations;
	/* other layers' bytes and opens are the same ones */
	if (r->own) {
		j->v[SCRIBE_JOB_METRIC_OPENS] += (double)r->opens;
		j->v[SCRIBE_JOB_METRIC_STATS] += (double)r->stats;
		j->v[SCRIBE_JOB_METRIC_READ] += (double)r->bytes[0];
		j->v[SCRIBE_JOB_METRIC_WRITTEN] += (double)r->bytes[1];
	}
	return true;
}

static bool has_loss(const struct scribe_ledger *l)
{
	for (int i = 0; i < SCRIBE_L_LATE_PROCS; i++)
		if (l->v[i] && scribe_ledger_meaning(i) >= SCRIBE_IS_LOSS)
			return true;
	return l->v[SCRIBE_L_LATE_PROCS] != 0; /* beyond the loop, because the log has it among its doubles */
}

/* Without records of living processes. One that ends before these are added is missing once. */
static void begin_job(struct scribe_job *job, struct scribe_job_metrics *j)
{
	const struct scribe_job_entry *entry = scribe_bpf_job(job->daemon->bpf, job->index);
	const struct scribe_process_totals *ended = &job->worlds.ended;
	struct scribe_ledger ledger;
	uint64_t partial = scribe_commit_partial(job, &ledger);

	*j = (struct scribe_job_metrics){.begun_ns = job->begun_ns, .uid = job->config.uid, .run = !job->spec.id[0]};
	if (j->run)
		snprintf(j->id, sizeof(j->id), "%" PRId64, job->log_job_id);
	else
		snprintf(j->id, sizeof(j->id), "%s", job->spec.id);
	snprintf(j->user, sizeof(j->user), "%s", job->config.user);
	j->v[SCRIBE_JOB_METRIC_READ] = (double)ended->bytes_read;
	j->v[SCRIBE_JOB_METRIC_WRITTEN] = (double)ended->bytes_written;
	j->v[SCRIBE_JOB_METRIC_OPERATIONS] = (double)ended->operations;
	j->v[SCRIBE_JOB_METRIC_OPENS] = (double)ended->opens;
	j->v[SCRIBE_JOB_METRIC_STATS] = (double)ended->stats;
	j->v[SCRIBE_JOB_METRIC_FAILED] = (double)ledger.v[SCRIBE_L_FAILED_PATHS];
	j->v[SCRIBE_JOB_METRIC_SEEN] = (double)ledger.v[SCRIBE_L_EVENTS];
	j->v[SCRIBE_JOB_METRIC_LOST] = (double)ledger.v[SCRIBE_L_DROP_NO_SLOT];
	j->v[SCRIBE_JOB_METRIC_OVERFLOWED] = (double)ledger.v[SCRIBE_L_OVERFLOWED];
	j->v[SCRIBE_JOB_METRIC_INCOMPLETE] = partial || has_loss(&ledger);
	j->v[SCRIBE_JOB_METRIC_PROCESSES] = (double)job->worlds.living;
	j->v[SCRIBE_JOB_METRIC_RECORDS] = entry ? entry->used : 0;
	j->v[SCRIBE_JOB_METRIC_RECORDS_LIMIT] = entry ? entry->quota : 0;
	j->v[SCRIBE_JOB_METRIC_STARTED] = (double)(job->begun_ns + (uint64_t)job->realtime_ns) / 1e9;
}

/* A sum may fall when a process ends during the count; Prometheus would take that as a restart. */
static void keep_up(struct scribe_job_metrics *was, struct scribe_job_metrics *j)
{
	for (int i = SCRIBE_JOB_METRIC_READ; i <= SCRIBE_JOB_METRIC_OVERFLOWED; i++)
		if (was->begun_ns == j->begun_ns && was->v[i] > j->v[i])
			j->v[i] = was->v[i];
	*was = *j;
}

/* All users can read the file: no more of the path than what is in the mount's own directory, of FUSE not that. */
static void name_folder(struct scribe_job *job, struct scribe_job_metrics *j)
{
	struct scribe_folder_most most;
	size_t n;

	if (!scribe_folder_load_most(job, &most) || !most.mount)
		return;
	n = strlen(most.mount->path);
	if (strncmp(most.mount->type, "fuse", 4)) {
		n += n > 1 && most.path[n] == '/';
		n += strcspn(most.path + n, "/");
	}
	j->folder_part = most.part;
	snprintf(j->folder, sizeof(j->folder), "%.*s", (int)n, most.path);
	snprintf(j->mount, sizeof(j->mount), "%s", most.mount->path);
}

/* True: complete. */
static bool walk_job(struct scribe_daemon *d, struct scribe_metrics *m, uint64_t until_ns)
{
	struct scribe_job *job = d->job[m->at];

	if (!job || job->state == SCRIBE_JOB_OVER || !d->bpf) {
		m->job[m->at].begun_ns = 0;
		return true;
	}
	if (!m->at_begun || m->now.begun_ns != job->begun_ns) {
		begin_job(job, &m->now);
		m->cursor = (struct scribe_live_cursor){0};
		m->at_begun = true;
	}
	if (!scribe_live_walk(d, job, &m->cursor, until_ns, add, &m->now))
		return false;
	name_folder(job, &m->now);
	keep_up(&m->job[m->at], &m->now);
	return true;
}

static bool walk(struct scribe_daemon *d, struct scribe_metrics *m)
{
	const uint64_t until_ns = scribe_now_ns() + WALK_NS;

	while (m->at < SCRIBE_JOBS_MAX) {
		if (!walk_job(d, m, until_ns))
			return false;
		m->at++;
		m->at_begun = false;
		if (scribe_now_ns() >= until_ns)
			return m->at == SCRIBE_JOBS_MAX;
	}
	return true;
}

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void count_daemon(const struct scribe_daemon *d, const struct scribe_metrics *m, double *v)
{
	uint64_t ring_most = 0, ring = d->bpf ? scribe_bpf_ring_bytes(d->bpf, &ring_most) : 0;

	v[SCRIBE_DAEMON_METRIC_STARTED] = (double)(m->started_s);
	v[SCRIBE_DAEMON_METRIC_CPU] = cpu_s();
	v[SCRIBE_DAEMON_METRIC_ITERATIONS] = (double)d->iterations.n;
	v[SCRIBE_DAEMON_METRIC_LONG_ITERATIONS] = (double)d->iterations.long_iterations;
	v[SCRIBE_DAEMON_METRIC_LONGEST_ITERATION] = (double)scribe_iteration_own_ns(&d->iterations.longest) / 1e9;
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		v[SCRIBE_DAEMON_METRIC_CONNECTIONS] += !c->gone;
	/* of this round, so that the sums agree */
	for (int i = 0; i < (int)SCRIBE_JOBS_MAX; i++) {
		v[SCRIBE_DAEMON_METRIC_JOBS] += m->job[i].begun_ns != 0;
		if (m->job[i].begun_ns)
			v[SCRIBE_DAEMON_METRIC_RECORDS] += m->job[i].v[SCRIBE_JOB_METRIC_RECORDS];
	}
	v[SCRIBE_DAEMON_METRIC_JOBS_BEGUN] = (double)d->jobs_started;
	v[SCRIBE_DAEMON_METRIC_RING] = (double)ring;
	v[SCRIBE_DAEMON_METRIC_RING_MOST] = (double)ring_most;
	v[SCRIBE_DAEMON_METRIC_RECORDS_LIMIT] = d->service->config.records;
	v[SCRIBE_DAEMON_METRIC_FAILURES] = (double)m->failures;
	if (!d->bpf)
		return;
	v[SCRIBE_DAEMON_METRIC_RING_USED] = (double)(scribe_bpf_put(d->bpf) - scribe_bpf_taken(d->bpf));
	v[SCRIBE_DAEMON_METRIC_MEMORY] = (double)scribe_bpf_memory(d->bpf);
	v[SCRIBE_DAEMON_METRIC_MISSES] = (double)scribe_bpf_misses(d->bpf);
}

/* Reported once until a write succeeds. */
static void failed(struct scribe_metrics *m, int rc)
{
	m->failures++;
	m->state = WAITING;
	if (!m->failing)
		fprintf(stderr, "ioscribed: no metrics can be written to %s: %s\n", m->path,
			rc == -EPERM ? "its directory must be root's own" : strerror(-rc));
	m->failing = true;
}

static int write_text(const struct scribe_daemon *d, const struct scribe_metrics *m, int fd)
{
	double v[SCRIBE_DAEMON_NMETRICS] = {0};
	int copy = dup(fd), rc = 0;
	FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;

	if (!to) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	count_daemon(d, m, v);
	scribe_metrics_print(to, v, m->job, SCRIBE_JOBS_MAX);
	rc = ferror(to) ? -EIO : 0;
	return fclose(to) == 0 ? rc : -EIO;
}

static int put(struct scribe_daemon *d, struct scribe_metrics *m)
{
	struct scribe_helper_put question = {.partial = m->partial, .to = m->path, .replace = true, .readable = true};
	struct scribe_err err = {0};
	int rc = 0;

	if (m->helper.sock < 0)
		rc = scribe_helper_start(&m->helper, geteuid(), getegid(), "", &err);
	if (rc < 0)
		return rc;
	/* renamed by the helper: readers never see half a file */
	question.fd = memfd_create("ioscribe-metrics", MFD_CLOEXEC);
	if (question.fd < 0)
		return -errno;
	rc = write_text(d, m, question.fd);
	if (rc == 0)
		rc = scribe_helper_put(&m->helper, &question, PUT_MS);
	close(question.fd);
	return rc;
}

void scribe_metrics_tick(struct scribe_daemon *d)
{
	struct scribe_metrics *m = d->metrics;
	int rc;

	if (!m)
		return;
	if (m->state == WAITING && scribe_now_ns() >= m->next_ns) {
		m->next_ns = scribe_now_ns() + m->interval_ns;
		m->at = 0;
		m->at_begun = false;
		m->state = WALKING;
	}
	if (m->state == WALKING && walk(d, m)) {
		m->state = PUTTING;
		rc = put(d, m);
		if (rc < 0)
			failed(m, rc);
		return;
	}
	if (m->state != PUTTING || !scribe_helper_answered(&m->helper, &rc))
		return;
	if (rc < 0) {
		/* replaced in the next round */
		scribe_helper_stop(&m->helper);
		failed(m, rc);
		return;
	}
	m->failing = false;
	m->state = WAITING;
}
