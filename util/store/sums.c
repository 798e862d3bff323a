// SPDX-License-Identifier: BSD-3-Clause
/* Sums of operations. Must not know where rows come from, nor the kind of database. */
#include "util/store/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_A_STATEMENT 256
#define MOST             65536 /* 8 MiB */

struct scribe_store_sum {
	int64_t job, second, rank, operation, node;
#define SCRIBE_X(column) int64_t column;
	SCRIBE_TOTAL_SUMS(SCRIBE_X)
#undef SCRIBE_X
	int64_t least_us, most_us;
};

/* Numbers of a hostile message stay the largest ones. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void count(struct scribe_store_sum *t, const struct scribe_store_row *row)
{
	const int64_t len = row->v[SCRIBE_COLUMN_len], us = row->v[SCRIBE_COLUMN_dur_us];
	const int64_t ns = row->v[SCRIBE_COLUMN_dur_ns], high = us / SCRIBE_TOTAL_SHORT;
	const int64_t low = us % SCRIBE_TOTAL_SHORT;

	t->n++;
	if (len != SCRIBE_SQL_NULL)
		t->bytes = plus(t->bytes, len);
	if (ns != SCRIBE_SQL_NULL)
		t->dur_ns = plus(t->dur_ns, ns);
	if (us == SCRIBE_SQL_NULL)
		return;
	t->timed++;
	t->dur_us = plus(t->dur_us, us);
	t->long_long = plus(t->long_long, high * high);
	t->long_short = plus(t->long_short, high * low);
	t->short_short = plus(t->short_short, low * low);
	t->least_us = us < t->least_us ? us : t->least_us;
	t->most_us = us > t->most_us ? us : t->most_us;
}

/* Into the totals of the row's job, second and rank, from `first` on. Returns the number of all. */
static size_t add(struct scribe_store_sum *total, size_t first, size_t n, const struct scribe_store_row *row)
{
	const int64_t node = row->v[SCRIBE_COLUMN_node];
	struct scribe_store_sum t = {.job = row->v[SCRIBE_COLUMN_job],
				     .second = row->v[SCRIBE_COLUMN_time_us] / 1000000,
				     .rank = row->v[SCRIBE_COLUMN_rank],
				     .operation = row->v[SCRIBE_COLUMN_operation],
				     .node = node == SCRIBE_SQL_NULL ? 0 : node,
				     .least_us = INT64_MAX,
				     .most_us = -1};

	while (first < n && (total[first].operation != t.operation || total[first].node != t.node))
		first++;
	if (first == n)
		total[n++] = t;
	count(&total[first], row);
	return n;
}

static void write_row(FILE *to, const struct scribe_store_sum *t, bool first)
{
	fprintf(to, "%s(%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, first ? "" : ",", t->job, t->second,
		t->rank, t->operation, t->node);
#define SCRIBE_X(column) fprintf(to, ",%" PRId64, t->column);
	SCRIBE_TOTAL_SUMS(SCRIBE_X)
#undef SCRIBE_X
	if (t->timed)
		fprintf(to, ",%" PRId64 ",%" PRId64 ")", t->least_us, t->most_us);
	else
		fputs(",NULL,NULL)", to);
}

static int put(const struct scribe_sql_kind_ops *ops, void *db, const struct scribe_store_sum *total, size_t n,
	       struct scribe_err *err)
{
	char *sql = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&sql, &bytes);
	int rc;

	if (!to)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	fputs("INSERT INTO total VALUES ", to);
	for (size_t i = 0; i < n; i++)
		write_row(to, &total[i], i == 0);
	fputs(" ON CONFLICT (job, second, rank, operation, node) DO UPDATE SET least_us = CASE WHEN excluded.least_us <"
	      " total.least_us OR total.least_us IS NULL THEN excluded.least_us ELSE total.least_us END, most_us = CASE"
	      " WHEN excluded.most_us > total.most_us OR total.most_us IS NULL THEN excluded.most_us ELSE"
	      " total.most_us END"
#define SCRIBE_X(column) ", " #column " = total." #column " + excluded." #column
	      SCRIBE_TOTAL_SUMS(SCRIBE_X),
#undef SCRIBE_X
	      to);
	rc = fclose(to) ? scribe_err_set(err, -ENOMEM, "store: out of memory") : ops->run(db, sql, err);
	free(sql);
	return rc;
}

static bool together(const struct scribe_store_row *a, const struct scribe_store_row *b)
{
	return a->v[SCRIBE_COLUMN_job] == b->v[SCRIBE_COLUMN_job] &&
	       a->v[SCRIBE_COLUMN_rank] == b->v[SCRIBE_COLUMN_rank] &&
	       a->v[SCRIBE_COLUMN_time_us] / 1000000 == b->v[SCRIBE_COLUMN_time_us] / 1000000;
}

static int need(struct scribe_store_sums *t, size_t more, struct scribe_err *err)
{
	struct scribe_store_sum *at;

	if (t->n + more <= t->cap)
		return 0;
	at = reallocarray(t->at, t->n + more, sizeof(*at));
	if (!at)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	t->at = at;
	t->cap = t->n + more;
	return 0;
}

int scribe_store_sums_add(struct scribe_store_sums *t, const struct scribe_store_row *rows, const bool *fresh, size_t n,
			  struct scribe_err *err)
{
	const struct scribe_store_row *last = NULL;
	size_t first = t->n;

	if (need(t, n, err) < 0)
		return err->code;
	for (size_t i = 0; i < n; i++) {
		if (!fresh[i])
			continue;
		if (!last || !together(last, &rows[i]))
			first = t->n;
		last = &rows[i];
		t->n = add(t->at, first, t->n, last);
	}
	return 0;
}

bool scribe_store_sums_full(const struct scribe_store_sums *t)
{
	return t->n >= MOST;
}

static int by_key(const void *a, const void *b)
{
	const struct scribe_store_sum *x = a, *y = b;

#define SCRIBE_X(column) \
	if (x->column != y->column) \
		return x->column < y->column ? -1 : 1;
	SCRIBE_X(job)
	SCRIBE_X(second)
	SCRIBE_X(rank)
	SCRIBE_X(operation)
	SCRIBE_X(node)
#undef SCRIBE_X
	return 0;
}

static void merge(struct scribe_store_sum *to, const struct scribe_store_sum *from)
{
#define SCRIBE_X(column) to->column = plus(to->column, from->column);
	SCRIBE_TOTAL_SUMS(SCRIBE_X)
#undef SCRIBE_X
	to->least_us = from->least_us < to->least_us ? from->least_us : to->least_us;
	to->most_us = from->most_us > to->most_us ? from->most_us : to->most_us;
}

int scribe_store_sums_put(struct scribe_store_sums *t, const struct scribe_sql_kind_ops *ops, void *db,
			  struct scribe_err *err)
{
	size_t n = 0;
	int rc = 0;

	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), by_key);
	for (size_t i = 0; i < t->n; i++)
		if (n && by_key(&t->at[n - 1], &t->at[i]) == 0)
			merge(&t->at[n - 1], &t->at[i]);
		else
			t->at[n++] = t->at[i];
	t->n = 0;
	for (size_t i = 0; i < n && rc >= 0; i += ROWS_A_STATEMENT)
		rc = put(ops, db, t->at + i, n - i < ROWS_A_STATEMENT ? n - i : ROWS_A_STATEMENT, err);
	return rc;
}

int scribe_store_sums_forget(const struct scribe_sql_kind_ops *ops, void *db, int64_t second, struct scribe_err *err)
{
	const struct scribe_sql_value values[] = {scribe_sql_int(second)};
	int rc = ops->begin(db, err);

	if (rc < 0)
		return rc;
	/* By job, because the table's key has the time after the job. */
	rc = ops->ask(
		db, "DELETE FROM total WHERE job IN (SELECT id FROM job WHERE first_us < $1 * 1000000) AND second < $1",
		false, values, 1, NULL, NULL, err);
	if (rc >= 0)
		rc = ops->commit(db, err);
	if (rc < 0)
		ops->roll_back(db);
	return rc;
}
