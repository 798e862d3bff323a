// SPDX-License-Identifier: BSD-3-Clause
/*
 * From messages to rows. Up to MAX_ROWS rows are pending. Must not know where messages come from, nor the kind
 * of database.
 */
#include "util/store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/store/names.h"
#include "util/store/samples.h"
#include "util/store/schema.h"
#include "util/store/sql_kinds.h"
#include "util/store/sums.h"

#define MAX_ROWS        32768 /* pending; SQLite keeps a copy of each page that they change */
#define ERASE_AT_A_TIME 50000

struct scribe_store {
	const struct scribe_sql_kind_ops *ops;
	void *db;
	struct scribe_store_names *names;
	void (*report)(void *ctx, const char *line);
	void *report_ctx;
	int64_t deletions;                      /* counter of the database, as last read */
	struct scribe_store_counts counts, now; /* committed; in this transaction */
	size_t n;
	struct scribe_store_row rows[MAX_ROWS];
	bool fresh[MAX_ROWS]; /* of them, not in the database before */
	struct scribe_store_sums sums;
};

struct scribe_store *scribe_store_close(struct scribe_store *s)
{
	if (!s)
		return NULL;
	scribe_store_names_free(s->names);
	if (s->db)
		s->ops->close(s->db);
	free(s->sums.at);
	free(s);
	return NULL;
}

int scribe_store_open(const char *place, bool read_only, void (*report)(void *ctx, const char *line), void *ctx,
		      struct scribe_store **ret_store, struct scribe_err *err)
{
	struct scribe_store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	s->report = report;
	s->report_ctx = ctx;
	rc = scribe_sql_kind(place, &s->ops, err);
	if (rc >= 0)
		rc = s->ops->open(place, read_only, &s->db, err);
	if (rc >= 0)
		rc = scribe_store_schema(s->ops, s->db, place, read_only, err);
	if (rc >= 0)
		rc = scribe_store_names_new(s->ops, s->db, &s->names, err);
	if (rc < 0) {
		scribe_store_close(s);
		return rc;
	}
	*ret_store = s;
	return 0;
}

static int on_number(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		     struct scribe_err *err)
{
	if (v)
		*(int64_t *)ctx = v[0].i;
	return 0;
}

int scribe_store_begin(struct scribe_store *s, struct scribe_err *err)
{
	int64_t deletions = 0;
	int rc = s->ops->begin(s->db, err);

	if (rc >= 0)
		rc = s->ops->ask(s->db, "SELECT value FROM ioscribe_store WHERE name = 'deletions'", true, NULL, 0,
				 on_number, &deletions, err);
	if (rc < 0)
		return rc;
	/* Another process has deleted dictionary rows: cached numbers may be invalid. */
	if (deletions != s->deletions || scribe_store_names_full(s->names))
		scribe_store_names_clear(s->names);
	s->deletions = deletions;
	memset(&s->now, 0, sizeof(s->now));
	s->n = s->sums.n = 0;
	return 0;
}

static int flush(struct scribe_store *s, struct scribe_err *err)
{
	uint64_t added = 0;
	int rc;

	/* Sorted, so that adjacent rows go to one page. */
	qsort(s->rows, s->n, sizeof(s->rows[0]), scribe_store_by_key);
	rc = s->ops->put(s->db, s->rows, s->n, s->fresh, err);
	if (rc >= 0)
		rc = scribe_store_sums_add(&s->sums, s->rows, s->fresh, s->n, err);
	if (rc >= 0 && scribe_store_sums_full(&s->sums))
		rc = scribe_store_sums_put(&s->sums, s->ops, s->db, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->n; i++)
		added += s->fresh[i];
	s->now.rows += added;
	s->now.known += s->n - added;
	s->n = 0;
	return 0;
}

int scribe_store_commit(struct scribe_store *s, struct scribe_err *err)
{
	int rc = s->n ? flush(s, err) : 0;

	if (rc >= 0)
		rc = scribe_store_sums_put(&s->sums, s->ops, s->db, err);
	if (rc >= 0)
		rc = scribe_store_job_times(s->names, err);
	if (rc >= 0)
		rc = s->ops->commit(s->db, err);
	if (rc < 0)
		return rc;
	/* Counted only after the database has committed. */
	s->counts.rows += s->now.rows;
	s->counts.known += s->now.known;
	s->counts.other += s->now.other;
	s->counts.samples += s->now.samples;
	s->counts.samples_known += s->now.samples_known;
	return 0;
}

void scribe_store_roll_back(struct scribe_store *s)
{
	s->ops->roll_back(s->db);
	scribe_store_names_clear(s->names);
	s->n = s->sums.n = 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

/*
 * Operations of a rank can end in the same us. A hash of the message's values, so that replays and other stores
 * compute the same key.
 */
static int64_t key_of(const struct scribe_store_event *e, const struct scribe_event_seg *seg)
{
	uint64_t h = e->record_id;

	for (const char *c = e->module; *c; c++)
		h = mix(h, (uint8_t)*c);
	for (const char *c = e->op; *c; c++)
		h = mix(h, (uint8_t)*c + 256U);
	h = mix(h, (uint64_t)e->max_byte);
	h = mix(h, (uint64_t)e->switches);
	h = mix(h, (uint64_t)e->flushes);
	h = mix(h, (uint64_t)e->cnt);
#define SCRIBE_X(key, f) h = mix(h, (uint64_t)seg->f);
	SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(key, f) h = mix(h, (uint64_t)scribe_event_us(seg->f));
	SCRIBE_EVENT_SEG_TIMES(SCRIBE_X)
#undef SCRIBE_X
	return (int64_t)(mix(h, h >> 32) >> 17);
}

/* -1 is the connector's value for absent. */
static int64_t or_null(int64_t v)
{
	return v == SCRIBE_EVENT_NONE || v == -1 ? SCRIBE_SQL_NULL : v;
}

static int put_seg(struct scribe_store *s, const struct scribe_store_event *e, const struct scribe_event_seg *seg,
		   struct scribe_store_row *row, struct scribe_err *err)
{
	if (s->n == MAX_ROWS && flush(s, err) < 0)
		return err->code;
	row->v[SCRIBE_COLUMN_time_us] = scribe_event_us(seg->time_ns);
	row->v[SCRIBE_COLUMN_key] = key_of(e, seg);
#define SCRIBE_X(key, f) row->v[SCRIBE_COLUMN_##f] = or_null(seg->f);
	SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
#undef SCRIBE_X
	row->v[SCRIBE_COLUMN_start_us] = or_null(scribe_event_us(seg->start_ns));
	row->v[SCRIBE_COLUMN_dur_us] = or_null(scribe_event_us(seg->dur_ns));
	row->v[SCRIBE_COLUMN_total_us] = or_null(scribe_event_us(seg->total_ns));
	row->v[SCRIBE_COLUMN_dur_ns] = seg->dur_ns;
	s->rows[s->n++] = *row;
	return 0;
}

/* The operation's end minus the time up to then. */
static int64_t began_ns(const struct scribe_event_seg *seg)
{
	int64_t start = seg->start_ns > 0 ? seg->start_ns : 0, dur = seg->dur_ns > 0 ? seg->dur_ns : 0;

	return start < seg->time_ns && dur < seg->time_ns - start ? seg->time_ns - start - dur : seg->time_ns;
}

static void say(struct scribe_store *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct scribe_store *s, const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (s->report)
		s->report(s->report_ctx, line);
}

static int find_job(struct scribe_store *s, const struct scribe_store_event *e, enum scribe_store_origin origin,
		    const struct scribe_store_job **ret_job, struct scribe_err *err)
{
	int64_t from = INT64_MAX, to = 0, uid = e->uid == SCRIBE_EVENT_NONE ? -1 : e->uid;
	const struct scribe_store_job *job;
	int rc;

	/* The time span decides to which use of the job id the operations belong. */
	for (int i = 0; i < e->nsegs; i++) {
		int64_t began = began_ns(&e->segs[i]);

		from = began < from ? began : from;
		to = e->segs[i].time_ns > to ? e->segs[i].time_ns : to;
	}
	rc = scribe_store_job(s->names, e->job_id, uid, scribe_event_us(from), scribe_event_us(to), origin, &job, err);
	if (rc < 0)
		return rc;
	if (job->is_new && job->use > 1)
		say(s, "job %" PRId64 ": the id is used again: kept apart as use %" PRId64 " of it", e->job_id,
		    job->use);
	if (job->is_other)
		say(s, "job %" PRId64 ": its operations are in the store from its %s: those from its %s are left out",
		    e->job_id, origin == SCRIBE_FROM_LOG ? "stream" : "log",
		    origin == SCRIBE_FROM_LOG ? "log" : "stream");
	*ret_job = job;
	return 0;
}

/* record_id holds a time. */
static int check_total(const struct scribe_store_event *e, struct scribe_err *err)
{
	static const char *const totals[] = {"sent", "end", "skipped", "lost"};
	bool known = false;

	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		known |= !strcmp(e->op, totals[i]);
	if (!known || e->record_id > INT64_MAX)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "no total of a stream: op or record_id");
	if (!e->node)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "it has no ProducerName");
	return e->cnt < 0 ? scribe_err_set(err, -SCRIBE_E_FORMAT, "it has no cnt, or one below 0") : 0;
}

static int put_total(struct scribe_store *s, const struct scribe_store_job *job, const struct scribe_store_event *e,
		     struct scribe_err *err)
{
	const int64_t job_id = job->id; /* `job` is invalid after the next dictionary call */
	int64_t node;
	int rc = scribe_store_node(s->names, e->node, &node, err);

	if (rc >= 0) {
		const struct scribe_sql_value values[] = {scribe_sql_int(job_id),
							  scribe_sql_int(node),
							  scribe_sql_int((int64_t)e->record_id),
							  scribe_sql_text(e->op),
							  scribe_sql_int(e->cnt),
							  scribe_sql_int(scribe_event_us(e->segs[0].time_ns))};

		/* The highest value stays, so that a replay changes nothing. */
		rc = s->ops->ask(s->db,
				 "INSERT INTO stream (job, node, since_us, total, value, time_us)"
				 " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (job, node, since_us, total) DO UPDATE"
				 " SET value = excluded.value, time_us = excluded.time_us"
				 " WHERE excluded.value > stream.value",
				 true, values, 6, NULL, NULL, err);
	}
	return rc;
}

int scribe_store_put(struct scribe_store *s, const struct scribe_store_event *e, enum scribe_store_origin origin,
		     struct scribe_err *err)
{
	struct scribe_store_row row;
	const struct scribe_store_job *job;
	const bool is_total = !strcmp(e->module, "STREAM");
	int rc = is_total ? check_total(e, err) : 0;

	if (rc >= 0)
		rc = find_job(s, e, origin, &job, err);
	if (rc < 0)
		return rc;
	if (is_total)
		return put_total(s, job, e, err);
	row.v[SCRIBE_COLUMN_job] = job->id;
	if (rc >= 0 && e->exe)
		rc = scribe_store_exe(s->names, row.v[SCRIBE_COLUMN_job], e->exe, err);
	if (rc >= 0)
		rc = scribe_store_file(s->names, row.v[SCRIBE_COLUMN_job], e->record_id, e->file,
				       &row.v[SCRIBE_COLUMN_file], err);
	if (rc < 0)
		return rc;
	/* A job's operations come from its stream or its log; those of the other are only counted. */
	if (job->origin != origin) {
		s->now.other += (uint64_t)e->nsegs;
		return 0;
	}
	rc = scribe_store_operation(s->names, e->module, e->op, e->type ? e->type : "MOD",
				    &row.v[SCRIBE_COLUMN_operation], err);
	row.v[SCRIBE_COLUMN_node] = SCRIBE_SQL_NULL;
	if (rc >= 0 && e->node)
		rc = scribe_store_node(s->names, e->node, &row.v[SCRIBE_COLUMN_node], err);
	row.v[SCRIBE_COLUMN_rank] = e->rank;
	row.v[SCRIBE_COLUMN_max_byte] = or_null(e->max_byte);
	row.v[SCRIBE_COLUMN_switches] = or_null(e->switches);
	row.v[SCRIBE_COLUMN_flushes] = or_null(e->flushes);
	row.v[SCRIBE_COLUMN_cnt] = or_null(e->cnt);
	for (int i = 0; i < e->nsegs && rc >= 0; i++)
		rc = put_seg(s, e, &e->segs[i], &row, err);
	return rc;
}

int scribe_store_put_counter(struct scribe_store *s, const struct scribe_store_event *e, const char *name,
			     int64_t value, struct scribe_err *err)
{
	const int64_t uid = e->uid == SCRIBE_EVENT_NONE ? -1 : e->uid, began = scribe_event_us(began_ns(&e->segs[0]));
	const struct scribe_store_job *job;
	int64_t id, file, metric;
	int rc = scribe_store_job(s->names, e->job_id, uid, began, scribe_event_us(e->segs[0].time_ns), SCRIBE_FROM_LOG,
				  &job, err);

	if (rc < 0)
		return rc;
	id = job->id; /* `job` is invalid after the next call */
	if (e->exe)
		rc = scribe_store_exe(s->names, id, e->exe, err);
	if (rc >= 0)
		rc = scribe_store_file(s->names, id, e->record_id, e->file, &file, err);
	if (rc >= 0)
		rc = scribe_store_metric(s->names, name, &metric, err);
	if (rc >= 0) {
		const struct scribe_sql_value values[] = {scribe_sql_int(id), scribe_sql_int(file),
							  scribe_sql_int(e->rank), scribe_sql_int(metric),
							  scribe_sql_int(value)};

		rc = s->ops->ask(s->db,
				 "INSERT INTO counter (job, file, rank, metric, value) VALUES ($1, $2, $3, $4, $5)"
				 " ON CONFLICT (job, file, rank, metric) DO UPDATE SET value = excluded.value",
				 true, values, 5, NULL, NULL, err);
	}
	return rc;
}

int scribe_store_put_sample(struct scribe_store *s, const struct scribe_sample *sample, struct scribe_err *err)
{
	uint64_t added = 0;
	int rc = scribe_samples_put(s->ops, s->db, s->names, sample, &added, err);

	if (rc >= 0 && added)
		s->now.samples++;
	else if (rc >= 0)
		s->now.samples_known++;
	return rc;
}

static int on_position(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		       struct scribe_err *err)
{
	if (v)
		*(struct scribe_store_position *)ctx =
			(struct scribe_store_position){.bytes = v[0].i, .lines = v[1].i, .bad_lines = v[2].i};
	return 0;
}

int scribe_store_position(struct scribe_store *s, const char *input, struct scribe_store_position *ret_at,
			  struct scribe_err *err)
{
	char capacity[SCRIBE_STORE_KEY + 1];
	struct scribe_sql_value value = scribe_sql_text(scribe_store_key(input, capacity));

	memset(ret_at, 0, sizeof(*ret_at));
	return s->ops->ask(s->db, "SELECT bytes, lines, bad_lines FROM input WHERE name = $1", true, &value, 1,
			   on_position, ret_at, err);
}

int scribe_store_position_set(struct scribe_store *s, const char *input, const struct scribe_store_position *at,
			      struct scribe_err *err)
{
	char capacity[SCRIBE_STORE_KEY + 1];
	struct scribe_sql_value values[] = {scribe_sql_text(scribe_store_key(input, capacity)),
					    scribe_sql_int(at->bytes), scribe_sql_int(at->lines),
					    scribe_sql_int(at->bad_lines)};

	return s->ops->ask(s->db,
			   "INSERT INTO input (name, bytes, lines, bad_lines) VALUES ($1, $2, $3, $4)"
			   " ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes, lines = excluded.lines,"
			   " bad_lines = excluded.bad_lines",
			   true, values, 4, NULL, NULL, err);
}

/* Nodes, operations and files of job 0 stay. */
int scribe_store_forget(struct scribe_store *s, int64_t before_us, uint64_t *ret_rows, uint64_t *ret_values,
			struct scribe_err *err)
{
	struct scribe_sql_value value =
		scribe_sql_int(before_us -= before_us % 1000000); /* sums are of whole seconds */
	uint64_t rows = 0;
	int rc = scribe_samples_forget(s->ops, s->db, before_us, ret_values, err);

	if (rc >= 0)
		rc = scribe_store_sums_forget(s->ops, s->db, before_us / 1000000, err);
	if (rc >= 0)
		rc = s->ops->forget(s->db, before_us, &rows, err);
	if (rc >= 0)
		rc = scribe_store_begin(s, err);
	if (rc < 0)
		return rc;
	rc = s->ops->ask(s->db,
			 "DELETE FROM job_exe WHERE job IN (SELECT id FROM job WHERE last_us < $1"
			 " AND NOT EXISTS (SELECT 1 FROM event WHERE event.job = job.id))",
			 true, &value, 1, NULL, NULL, err);
	if (rc >= 0)
		rc = s->ops->ask(s->db,
				 "DELETE FROM job WHERE last_us < $1"
				 " AND NOT EXISTS (SELECT 1 FROM event WHERE event.job = job.id)",
				 true, &value, 1, NULL, NULL, err);
	if (rc >= 0)
		rc = s->ops->run(s->db,
				 "DELETE FROM stream WHERE job NOT IN (SELECT id FROM job);"
				 "DELETE FROM counter WHERE job NOT IN (SELECT id FROM job);"
				 "DELETE FROM file WHERE job <> 0 AND job NOT IN (SELECT id FROM job)",
				 err);
	if (rc >= 0)
		rc = s->ops->run(s->db, "UPDATE ioscribe_store SET value = value + 1 WHERE name = 'deletions'", err);
	if (rc >= 0)
		rc = scribe_store_commit(s, err);
	if (rc < 0)
		scribe_store_roll_back(s);
	*ret_rows = rows;
	return rc;
}

/* Some events, so that writers wait little; without any, all else. */
static int erase_some(struct scribe_store *s, int64_t uid, struct scribe_err *err)
{
	struct scribe_sql_value values[] = {scribe_sql_int(uid), scribe_sql_int(ERASE_AT_A_TIME)};
	static const char *const rest[] = {
		"DELETE FROM job_exe WHERE job IN (SELECT id FROM job WHERE uid = $1)",
		"DELETE FROM stream WHERE job IN (SELECT id FROM job WHERE uid = $1)",
		"DELETE FROM counter WHERE job IN (SELECT id FROM job WHERE uid = $1)",
		"DELETE FROM file WHERE job IN (SELECT id FROM job WHERE uid = $1)",
		"DELETE FROM job WHERE uid = $1",
		"UPDATE ioscribe_store SET value = value + 1 WHERE name = 'deletions'",
	};
	int64_t left = 0;
	int rc = scribe_store_begin(s, err);

	if (rc >= 0)
		rc = s->ops->ask(s->db, "DELETE FROM total WHERE job IN (SELECT id FROM job WHERE uid = $1)", true,
				 values, 1, NULL, NULL, err);
	if (rc >= 0)
		rc = s->ops->ask(s->db,
				 "DELETE FROM event WHERE (job, rank, time_us, key) IN (SELECT job, rank, time_us, key"
				 " FROM event WHERE job IN (SELECT id FROM job WHERE uid = $1) LIMIT $2)",
				 true, values, 2, NULL, NULL, err);
	if (rc >= 0)
		rc = s->ops->ask(s->db,
				 "SELECT count(*) FROM (SELECT 1 FROM event WHERE job IN (SELECT id FROM job WHERE"
				 " uid = $1) LIMIT 1) AS t",
				 true, values, 1, on_number, &left, err);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]) && !left && rc >= 0; i++)
		rc = s->ops->ask(s->db, rest[i], false, values, strchr(rest[i], '$') ? 1 : 0, NULL, NULL, err);
	if (rc >= 0)
		rc = scribe_store_commit(s, err);
	if (rc < 0)
		scribe_store_roll_back(s);
	return rc < 0 ? rc : left > 0;
}

int scribe_store_erase(struct scribe_store *s, int64_t uid, uint64_t *ret_rows, uint64_t *ret_jobs,
		       struct scribe_err *err)
{
	struct scribe_sql_value value = scribe_sql_int(uid);
	int64_t rows = 0, jobs = 0;
	int rc = s->ops->ask(s->db, "SELECT count(*) FROM job WHERE uid = $1", false, &value, 1, on_number, &jobs, err);

	if (rc >= 0)
		rc = s->ops->ask(s->db, "SELECT count(*) FROM event WHERE job IN (SELECT id FROM job WHERE uid = $1)",
				 false, &value, 1, on_number, &rows, err);
	*ret_rows = (uint64_t)rows;
	*ret_jobs = (uint64_t)jobs;
	if (rc >= 0)
		do
			rc = erase_some(s, uid, err);
		while (rc > 0);
	return rc;
}

int scribe_store_narrow(struct scribe_store *s, int64_t uid, struct scribe_err *err)
{
	char *sql = scribe_store_schema_of_user(s->ops, uid);
	int rc = sql ? s->ops->narrow(s->db, sql, err) : scribe_err_set(err, -ENOMEM, "store: out of memory");

	free(sql);
	return rc;
}

struct scribe_store_counts scribe_store_counted(const struct scribe_store *s)
{
	return s->counts;
}

int scribe_store_query(struct scribe_store *s, const char *sql, const struct scribe_sql_value *values, int n,
		       const struct scribe_sql_limit *limit, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	s->ops->limit(s->db, limit);
	return s->ops->ask(s->db, sql, false, values, n, row, ctx, err);
}
