/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One log from the parts of an MPI world, or of the rest of a job: the ranks' own log if they agreed on it,
 * otherwise each node's first part, reduced by the ranks' rule. Must not know which nodes have delivered.
 */
#include "logfmt/nodes/parts_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/writer.h"
#include "logfmt/nodes/many.h"
#include "logfmt/records/bundle.h"
#include "logfmt/records/heat_level.h"
#include "logfmt/records/reduce.h"

#define FEW 64 /* nodes with all records in memory */

static int add_log(struct scribe_join *j, struct scribe_bundle *b, struct scribe_reader *r, struct scribe_err *err)
{
	j->partial |= scribe_reader_header(r)->partial_flag;
	return scribe_bundle_join(b, r, scribe_join_lag(j, r), err);
}

static int add_part(struct scribe_join *j, struct scribe_bundle *b, const char *node, const char *kind,
		    struct scribe_err *err)
{
	struct scribe_reader *r = NULL;
	int rc = scribe_join_open(j, node, kind, &r, err);

	if (rc == 0)
		rc = add_log(j, b, r, err);
	scribe_reader_free(r);
	return rc;
}

static int add_node(struct scribe_join *j, struct scribe_bundle *b, const char *node, struct scribe_err *err)
{
	int rc = j->collective ? 0 : add_part(j, b, node, SCRIBE_PART_FIRST, err);

	if (rc == -ENOENT) {
		*err = (struct scribe_err){0};
		rc = 0;
	}
	return rc < 0 ? rc : add_part(j, b, node, SCRIBE_PART_LATE, err);
}

/* Reads each part to its end, to report every unusable one. */
static int try_nodes(struct scribe_join *j)
{
	for (size_t i = 0; i < j->world->nodes; i++) {
		struct scribe_bundle b = {0};
		struct scribe_err err = {0};

		if (!j->bad[i] && add_node(j, &b, j->world->node[i], &err) < 0)
			scribe_join_is_bad(j, i, err.text);
		scribe_bundle_clear(&b);
	}
	j->partial = 0;
	return scribe_join_check(j);
}

static int add_records(struct scribe_join *j, struct scribe_bundle *b, struct scribe_reader *ranks)
{
	struct scribe_err err = {0};
	/* Costs a second reading, therefore only where unusable parts are reported or left out. */
	int rc = j->world->report || j->world->without_bad ? try_nodes(j) : 0;

	if (rc < 0)
		return rc;
	if (ranks)
		rc = add_log(j, b, ranks, &err);
	for (size_t i = 0; i < j->world->nodes && rc == 0; i++)
		if (!j->bad[i])
			rc = add_node(j, b, j->world->node[i], &err);
	return rc < 0 ? scribe_err_set(j->err, rc, "%s", err.text) : 0;
}

/* Ranks in the parts' process tables; fewer than the world has: the log lacks ranks. */
static int64_t ranks_seen(const struct scribe_join *j, const struct scribe_bundle *b)
{
	unsigned char *seen = calloc((size_t)(j->job.nprocs > 0 ? j->job.nprocs : 1), 1);
	int64_t n = 0;

	for (size_t i = 0; seen && i < b->n; i++) {
		const struct scribe_bundled *r = b->rec[i];

		if (r->module != SCRIBE_MOD_PROCESS || r->rank < 0 || r->rank >= j->job.nprocs)
			continue;
		n += !seen[r->rank];
		seen[r->rank] = 1;
	}
	free(seen);
	return n;
}

static int write_log(struct scribe_join *j, struct scribe_bundle *b, const char *to)
{
	struct scribe_writer *w = NULL;
	int rc = scribe_join_create(j, to, &w);

	if (rc < 0)
		return rc;
	rc = scribe_bundle_write_names(b, w);
	if (rc == 0)
		rc = scribe_bundle_write(b, w);
	return scribe_join_finish(j, w, rc, to);
}

static int join_in_memory(struct scribe_join *j, struct scribe_reader *ranks, const char *to)
{
	const bool rest = !strcmp(j->world->name, SCRIBE_PARTS_REST);
	struct scribe_bundle b = {0};
	int rc = add_records(j, &b, ranks);

	if (rc == 0)
		rc = scribe_heat_level(&b);
	if (rc == 0 && !rest && !j->info.unshared)
		rc = scribe_bundle_reduce(&b, j->job.nprocs);
	if (rc < 0 && !(j->err && j->err->text[0]))
		scribe_err_set(j->err, rc, "out of memory");
	if (rc == 0) {
		j->ranks = ranks_seen(j, &b);
		rc = write_log(j, &b, to);
	}
	scribe_bundle_clear(&b);
	return rc;
}

static int join_all(struct scribe_join *j, const char *to)
{
	const bool rest = !strcmp(j->world->name, SCRIBE_PARTS_REST);
	struct scribe_reader *ranks = NULL;
	struct scribe_err ignored;
	int rc = scribe_join_look(j);

	if (rc < 0)
		return rc;
	/* The ranks' log can be missing or damaged although they agreed. Then the first parts are used. */
	if (j->agreed && j->split && scribe_join_open(j, NULL, SCRIBE_PART_RANKS, &ranks, &ignored) == 0) {
		j->collective = true;
		scribe_job_merge(&j->job, scribe_reader_job(ranks));
	}
	if (!ranks && !rest && (j->world->threads || j->world->nodes > FEW))
		rc = scribe_many_join(j, to);
	else
		rc = join_in_memory(j, ranks, to);
	scribe_reader_free(ranks);
	return rc;
}

/* Results are also set if the log could not be made. */
int scribe_parts_join(const struct scribe_parts_world *world, const char *to, char *ret_log_path, size_t cap,
		      bool *ret_named, bool *ret_lacks, bool *ret_bad, struct scribe_err *err)
{
	struct scribe_join j;
	struct scribe_err own = {0};
	int rc = scribe_join_begin(&j, world, err ? err : &own);

	if (rc < 0)
		return rc;
	rc = join_all(&j, to);
	if (rc == 0)
		rc = scribe_join_log_path(&j, ret_log_path, cap);
	*ret_named = j.info.named;
	*ret_lacks = scribe_join_lacks(&j);
	memcpy(ret_bad, j.bad, world->nodes * sizeof(*ret_bad));
	scribe_join_end(&j);
	return rc;
}
