/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of operations by job, second, rank, kind and node, kept in the transaction of the rows (docs/store.md). */
#ifndef UTIL_STORE_SUMS_H
#define UTIL_STORE_SUMS_H

#include "util/store/sql.h"

struct scribe_store_sum;

/* Those of a transaction that are not written yet. */
struct scribe_store_sums {
	struct scribe_store_sum *at;
	size_t n, cap;
};

/* The rows that are fresh, in the order of their keys. -ENOMEM. */
int scribe_store_sums_add(struct scribe_store_sums *t, const struct scribe_store_row *rows, const bool *fresh, size_t n,
			  struct scribe_err *err);
bool scribe_store_sums_full(const struct scribe_store_sums *t);
/* Writes them; there are none then. */
int scribe_store_sums_put(struct scribe_store_sums *t, const struct scribe_sql_kind_ops *ops, void *db,
			  struct scribe_err *err);
/* Those before `second`, in a transaction of its own. */
int scribe_store_sums_forget(const struct scribe_sql_kind_ops *ops, void *db, int64_t second, struct scribe_err *err);

/*
 * Columns beside the key. A duration in us is long * SCRIBE_TOTAL_SHORT + short: sums of the products give the sum of
 * squares. X(column): added up.
 */
#define SCRIBE_TOTAL_SUMS(X) X(n) X(bytes) X(dur_ns) X(timed) X(dur_us) X(long_long) X(long_short) X(short_short)

#define SCRIBE_TOTAL_SHORT 134217728

#endif
