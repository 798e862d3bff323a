// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rates from two samples. A process has moved what was collected of it plus what its records hold. A sample
 * takes time, so values may seem to fall; that counts as 0. Must not know the service or a terminal.
 */
#include "util/cmd/top/rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/keyed.h"
#include "logfmt/records/hashmap.h"

struct moved {
	uint64_t bytes[2], operations, opens, stats;
};

struct making {
	const struct scribe_top_sample *before, *now;
	const struct scribe_top_scope *scope;
	struct scribe_top_rows *rows;
	struct scribe_map by_key; /* 1 + index of a row */
	struct scribe_map old_process, old_record;
	struct scribe_map new_process;
	struct moved *moved_before, *moved_now;
};

/* Combines two words; a collision would join two rows. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	const uint64_t key[] = {a, b};

	return scribe_keyed(key, sizeof(key));
}

static double difference(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

static double seconds(uint64_t now_ns, uint64_t before_ns)
{
	return now_ns > before_ns ? (double)(now_ns - before_ns) / 1e9 : 0;
}

static double per(double what, double by)
{
	return by > 0 ? what / by : 0;
}

static struct moved *sum_up(const struct scribe_top_sample *s)
{
	struct moved *m = calloc(s->processes + 1, sizeof(*m));

	for (size_t i = 0; m && i < s->processes; i++) {
		const struct scribe_live_sums *c = &s->process[i].is.collected;

		m[i] = (struct moved){{c->bytes[0], c->bytes[1]}, c->operations, c->opens, c->stats};
	}
	for (size_t i = 0; m && i < s->records; i++) {
		const struct scribe_sampled_record *r = &s->record[i];
		struct moved *to = &m[r->process];

		to->operations += r->is.operations;
		to->opens += r->is.own ? r->is.opens : 0;
		to->stats += r->is.own ? r->is.stats : 0;
		for (int op = 0; op < 2 && r->is.own; op++)
			to->bytes[op] += r->is.bytes[op];
	}
	return m;
}

/* A slot may be reused: compare the generation too. */
static uint64_t record_key(const struct scribe_live_record *r)
{
	return (uint64_t)r->proc_id << 32 | r->slot;
}

static int index_all(struct making *x)
{
	for (size_t i = 0; i < x->before->processes; i++)
		if (scribe_map_put(&x->old_process, x->before->process[i].is.proc_id, &x->before->process[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < x->now->processes; i++)
		if (scribe_map_put(&x->new_process, x->now->process[i].is.proc_id, &x->now->process[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < x->before->records; i++)
		if (scribe_map_put(&x->old_record, record_key(&x->before->record[i].is), &x->before->record[i]) < 0)
			return -ENOMEM;
	x->moved_before = sum_up(x->before);
	x->moved_now = sum_up(x->now);
	return x->moved_before && x->moved_now ? 0 : -ENOMEM;
}

static struct scribe_top_row *row_of(struct making *x, uint64_t key, const struct scribe_live_job *job)
{
	struct scribe_top_rows *rows = x->rows;
	size_t at = (size_t)(uintptr_t)scribe_map_get(&x->by_key, key);

	if (at)
		return &rows->row[at - 1];
	if (rows->n == rows->capacity) {
		struct scribe_top_row *more = realloc(rows->row, (rows->capacity * 2 + 64) * sizeof(*more));

		if (!more)
			return NULL;
		rows->row = more;
		rows->capacity = rows->capacity * 2 + 64;
	}
	if (scribe_map_put(&x->by_key, key, (void *)(uintptr_t)(rows->n + 1)) < 0)
		return NULL;
	rows->row[rows->n] = (struct scribe_top_row){.job = job, .rank = -1};
	return &rows->row[rows->n++];
}

static bool wants_job(const struct making *x, size_t job)
{
	return !x->scope->job_id || !strcmp(x->scope->job_id, x->now->job[job].id);
}

static bool wants(const struct making *x, const struct scribe_sampled_process *p)
{
	const struct scribe_top_scope *s = x->scope;

	return wants_job(x, p->job) && (!s->pid || s->pid == p->is.pid) &&
	       (s->rank < 0 || (s->rank == p->is.rank && s->unit == p->is.unit)) &&
	       (s->view != SCRIBE_TOP_RANKS || p->is.rank >= 0);
}

static struct scribe_top_row *row_of_process(struct making *x, const struct scribe_sampled_process *p)
{
	const struct scribe_live_job *job = &x->now->job[p->job];
	struct scribe_top_row *row;

	if (x->scope->view == SCRIBE_TOP_JOBS)
		return row_of(x, job->job, job);
	row = row_of(x,
		     x->scope->view == SCRIBE_TOP_PROCESSES ? p->is.proc_id
							    : mix(mix(job->job, p->is.unit), (uint64_t)p->is.rank),
		     job);
	if (row) {
		row->rank = p->is.rank;
		row->unit = p->is.unit;
	}
	return row;
}

/* row->process is set only while a single process counts to the row. */
static void count_process(struct making *x, struct scribe_top_row *row, const struct scribe_sampled_process *p)
{
	const size_t number = (size_t)(p - x->now->process) + 1;

	/* Records are sorted by process, so the last one suffices to count each once. */
	if (row->counted == number)
		return;
	row->counted = number;
	row->process = row->processes ? NULL : &p->is;
	row->processes++;
}

static void add_process(struct making *x, struct scribe_top_row *row, size_t i)
{
	const struct scribe_sampled_process *p = &x->now->process[i];
	const struct scribe_sampled_process *old = scribe_map_get(&x->old_process, p->is.proc_id);
	const struct moved none = {{0, 0}, 0, 0, 0}, *now = &x->moved_now[i],
			   *before = old ? &x->moved_before[old - x->before->process] : &none;
	const double time = seconds(p->at_ns, old ? old->at_ns : x->before->at_ns);

	count_process(x, row, p);
	for (int op = 0; op < 2; op++) {
		row->bytes_s[op] += per(difference(now->bytes[op], before->bytes[op]), time);
		row->bytes[op] += now->bytes[op];
	}
	row->ops_s += per(difference(now->operations, before->operations), time);
	row->operations += now->operations;
	row->opens_s += per(difference(now->opens, before->opens), time);
	row->stats_s += per(difference(now->stats, before->stats), time);
}

static struct scribe_top_row *row_of_record(struct making *x, const struct scribe_sampled_record *r,
					    const struct scribe_sampled_process *p)
{
	const struct scribe_live_job *job = &x->now->job[p->job];
	struct scribe_top_row *row;

	if (x->scope->view != SCRIBE_TOP_FILES)
		return row_of_process(x, p);
	/* A file has one row per layer; each record without a name has its own. */
	row = row_of(x, mix(mix(job->job, r->is.module), r->is.name ? r->is.name : record_key(&r->is) * 2 + 1), job);
	if (!row)
		return NULL;
	row->name = r->is.name;
	row->folded = r->is.folded;
	return row;
}

/* Mean time and size come from records, also where rates come from processes. */
static void add_record(struct making *x, struct scribe_top_row *row, const struct scribe_sampled_record *r)
{
	static const struct scribe_live_record none;
	const bool file = x->scope->view == SCRIBE_TOP_FILES;
	const struct scribe_sampled_record *old = scribe_map_get(&x->old_record, record_key(&r->is));
	const struct scribe_live_record *before;
	double time;

	old = old && old->is.generation == r->is.generation ? old : NULL;
	before = old ? &old->is : &none;
	time = seconds(r->at_ns, old ? old->at_ns : x->before->at_ns);
	row->modules |= 1ull << (r->is.module & 63);
	/* Layers above count the same bytes again (own is false): only FILES shows them. */
	for (int op = 0; op < 2 && (file || r->is.own); op++) {
		const double bytes = difference(r->is.bytes[op], before->bytes[op]);

		row->changed_bytes += bytes;
		row->changed_ops += difference(r->is.ops[op], before->ops[op]);
		row->changed_busy_ns += difference(r->is.busy_ns[op], before->busy_ns[op]);
		row->longest_s = fmax(row->longest_s, (double)r->is.longest_ns[op] / 1e9);
		row->bytes_s[op] += file ? per(bytes, time) : 0;
		row->bytes[op] += file ? r->is.bytes[op] : 0;
	}
	if (!file)
		return;
	row->ops_s += per(difference(r->is.operations, before->operations), time);
	row->operations += r->is.operations;
	row->opens_s += per(difference(r->is.opens, before->opens), time);
	row->stats_s += per(difference(r->is.stats, before->stats), time);
}

/* Job numbers are reused, so the start is compared too. */
static const struct scribe_live_job *same_job(const struct scribe_top_sample *s, const struct scribe_live_job *job)
{
	for (size_t i = 0; i < s->jobs; i++)
		if (s->job[i].job == job->job && s->job[i].begun_ns == job->begun_ns)
			return &s->job[i];
	return NULL;
}

/* Adds what ended processes moved since the earlier sample; otherwise a job's totals would fall. */
static void add_ended(struct making *x, struct scribe_top_row *row, const struct scribe_live_job *job)
{
	static const struct scribe_live_job none;
	const struct scribe_live_job *same = same_job(x->before, job), *old = same ? same : &none;
	double bytes[2], operations = difference(job->ended.operations, old->ended.operations);
	double opens = difference(job->ended.opens, old->ended.opens);
	double stats = difference(job->ended.stats, old->ended.stats);
	const double time = seconds(x->now->at_ns, x->before->at_ns);

	for (int op = 0; op < 2; op++)
		bytes[op] = difference(job->ended.bytes[op], old->ended.bytes[op]);
	for (size_t i = 0; same && i < x->before->processes; i++) {
		const struct scribe_sampled_process *p = &x->before->process[i];

		if (&x->before->job[p->job] != same || scribe_map_get(&x->new_process, p->is.proc_id))
			continue;
		for (int op = 0; op < 2; op++)
			bytes[op] -= (double)x->moved_before[i].bytes[op];
		operations -= (double)x->moved_before[i].operations;
		opens -= (double)x->moved_before[i].opens;
		stats -= (double)x->moved_before[i].stats;
	}
	for (int op = 0; op < 2; op++) {
		row->bytes_s[op] += per(fmax(bytes[op], 0), time);
		row->bytes[op] += job->ended.bytes[op];
	}
	row->ops_s += per(fmax(operations, 0), time);
	row->operations += job->ended.operations;
	row->opens_s += per(fmax(opens, 0), time);
	row->stats_s += per(fmax(stats, 0), time);
	row->failed_s += same ? per(difference(job->failed_lookups, old->failed_lookups), time) : 0;
}

static int add_all(struct making *x)
{
	const struct scribe_top_sample *now = x->now;
	struct scribe_top_row *row;

	for (size_t i = 0; i < now->jobs && x->scope->view == SCRIBE_TOP_JOBS; i++) {
		if (!wants_job(x, i))
			continue;
		row = row_of(x, now->job[i].job, &now->job[i]);
		if (!row)
			return -ENOMEM;
		add_ended(x, row, &now->job[i]);
	}
	for (size_t i = 0; i < now->processes && x->scope->view != SCRIBE_TOP_FILES; i++) {
		if (!wants(x, &now->process[i]))
			continue;
		row = row_of_process(x, &now->process[i]);
		if (!row)
			return -ENOMEM;
		add_process(x, row, i);
	}
	for (size_t i = 0; i < now->records; i++) {
		const struct scribe_sampled_record *r = &now->record[i];
		const struct scribe_sampled_process *p = &now->process[r->process];

		if (!wants(x, p))
			continue;
		row = row_of_record(x, r, p);
		if (!row)
			return -ENOMEM;
		if (x->scope->view == SCRIBE_TOP_FILES)
			count_process(x, row, p);
		add_record(x, row, r);
	}
	return 0;
}

/* NAN: no read or write between the samples. */
static void finish(struct scribe_top_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct scribe_top_row *r = &rows->row[i];

		r->latency_s = r->changed_ops > 0 ? r->changed_busy_ns / r->changed_ops / 1e9 : NAN;
		r->size = r->changed_ops > 0 ? r->changed_bytes / r->changed_ops : NAN;
	}
}

int scribe_top_rows_make(const struct scribe_top_sample *before, const struct scribe_top_sample *now,
			 const struct scribe_top_scope *scope, struct scribe_top_rows *ret_rows)
{
	struct scribe_top_rows rows = {.seconds = seconds(now->at_ns, before->at_ns)};
	struct making x = {.before = before, .now = now, .scope = scope, .rows = &rows};
	int rc = index_all(&x);

	if (rc == 0)
		rc = add_all(&x);
	finish(&rows);
	free(x.moved_before);
	free(x.moved_now);
	scribe_map_clear(&x.by_key);
	scribe_map_clear(&x.old_process);
	scribe_map_clear(&x.new_process);
	scribe_map_clear(&x.old_record);
	if (rc == 0)
		*ret_rows = rows;
	else
		scribe_top_rows_clear(&rows);
	return rc;
}

void scribe_top_rows_clear(struct scribe_top_rows *rows)
{
	free(rows->row);
	*rows = (struct scribe_top_rows){0};
}
