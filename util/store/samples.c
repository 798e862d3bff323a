// SPDX-License-Identifier: BSD-3-Clause
/*
 * Samples in the database. The key is node, time and metric, so that a replay adds nothing. Must not know the kind
 * of database.
 */
#include "util/store/samples.h"

#define FORGET_AT_A_TIME 50000 /* values per transaction, so that writers wait little */

static int count(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v, struct scribe_err *err)
{
	*(uint64_t *)ctx += v != NULL;
	return 0;
}

int scribe_samples_put(const struct scribe_sql_kind_ops *ops, void *db, struct scribe_store_names *names,
		       const struct scribe_sample *sample, uint64_t *ret_new, struct scribe_err *err)
{
	uint64_t added = 0;
	int64_t node, metric;
	int rc = scribe_store_node(names, sample->node, &node, err);

	for (int i = 0; i < sample->n && rc >= 0; i++) {
		rc = scribe_store_metric(names, sample->values[i].metric, &metric, err);
		if (rc >= 0) {
			const struct scribe_sql_value values[] = {scribe_sql_int(node), scribe_sql_int(sample->time_us),
								  scribe_sql_int(metric),
								  scribe_sql_int(sample->values[i].value)};

			rc = ops->ask(db,
				      "INSERT INTO sample (node, time_us, metric, value) VALUES ($1, $2, $3, $4)"
				      " ON CONFLICT DO NOTHING RETURNING metric",
				      true, values, 4, count, &added, err);
		}
	}
	if (rc >= 0)
		*ret_new = added;
	return rc;
}

static int forget_some(const struct scribe_sql_kind_ops *ops, void *db, int64_t before_us, uint64_t *values,
		       struct scribe_err *err)
{
	const struct scribe_sql_value limits[] = {scribe_sql_int(before_us), scribe_sql_int(FORGET_AT_A_TIME)};
	int rc = ops->begin(db, err);

	if (rc < 0)
		return rc;
	/* Joined by node, because the table's key has the time after the node. */
	rc = ops->ask(db,
		      "DELETE FROM sample WHERE (node, time_us, metric) IN (SELECT s.node, s.time_us, s.metric"
		      " FROM node n JOIN sample s ON s.node = n.id WHERE s.time_us < $1 LIMIT $2) RETURNING metric",
		      false, limits, 2, count, values, err);
	if (rc >= 0)
		rc = ops->commit(db, err);
	if (rc < 0)
		ops->roll_back(db);
	return rc;
}

int scribe_samples_forget(const struct scribe_sql_kind_ops *ops, void *db, int64_t before_us, uint64_t *ret_values,
			  struct scribe_err *err)
{
	uint64_t some;
	int rc;

	*ret_values = 0;
	do {
		some = 0;
		rc = forget_some(ops, db, before_us, &some, err);
		*ret_values += rc < 0 ? 0 : some;
	} while (rc >= 0 && some);
	return rc;
}
