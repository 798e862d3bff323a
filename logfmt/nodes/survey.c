/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first reading of many parts: batches of nodes in threads, combined in the nodes' order, so that the
 * result is deterministic. Must not keep records.
 */
#include "logfmt/nodes/survey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/encode.h"
#include "logfmt/file/pack.h"
#include "logfmt/nodes/many_read.h"
#include "logfmt/nodes/pool.h"

#define AT_ONCE 4 /* batches per thread that wait to be combined */

struct rank_of {
	int64_t rank;
	size_t node;
};

/* Of one batch. */
struct found {
	struct scribe_id_table ids;
	struct scribe_map named;
	struct scribe_bytes names;
	struct scribe_bytes ranks;
	struct scribe_heat_axis axis;
	uint64_t partial;
	char *why[SCRIBE_BATCH_NODES]; /* unusable */
};

/* Batches in the threads. */
struct round {
	struct scribe_survey *s;
	size_t first;
	struct found *found;
};

static char mark; /* value in maps of ids */

static void found_clear(struct found *t)
{
	scribe_id_table_clear(&t->ids);
	scribe_map_clear(&t->named);
	free(t->names.at);
	free(t->ranks.at);
	for (size_t i = 0; i < SCRIBE_BATCH_NODES; i++)
		free(t->why[i]);
}

static int report_record(struct found *t, const struct scribe_bundle *b, const struct scribe_bundled *r, size_t node)
{
	const struct scribe_bundle_name *name = scribe_map_get(&b->names, r->id);
	int rc = 0;

	if (name && !scribe_map_get(&t->named, r->id)) {
		rc = scribe_bytes_put_name(&t->names, r->id, name->text, name->bytes);
		if (rc == 0)
			rc = scribe_map_put(&t->named, r->id, &mark);
	}
	if (rc == 0 && scribe_bundle_can_share(r->module)) {
		const struct scribe_id_seen seen = {r->id, 1, (uint32_t)r->module, r->rank == -1, r->rank == 0};

		rc = scribe_id_table_add(&t->ids, &seen);
	}
	if (rc == 0 && r->module == SCRIBE_MOD_PROCESS) {
		const struct rank_of of = {r->rank, node};

		rc = scribe_bytes_put(&t->ranks, &of, sizeof(of));
	}
	return rc;
}

static int report_node(struct scribe_survey *s, struct found *t, size_t node, struct scribe_err *err)
{
	struct scribe_bundle b = {0};
	int rc = scribe_many_read(s->j, node, &b, &t->partial, &s->hash[node], err);

	if (rc == 0)
		scribe_heat_axis_note(&t->axis, &b);
	for (size_t i = 0; i < b.n && rc == 0; i++) {
		rc = report_record(t, &b, b.rec[i], node);
		if (rc < 0)
			scribe_err_set(err, rc, "out of memory");
	}
	scribe_bundle_clear(&b);
	return rc;
}

static int report_batch(void *ctx, size_t i)
{
	struct round *r = ctx;
	struct found *t = &r->found[i];
	const size_t first = (r->first + i) * SCRIBE_BATCH_NODES, all = r->s->j->world->nodes;

	for (size_t node = first; node < all && node < first + SCRIBE_BATCH_NODES; node++) {
		struct scribe_err err = {0};

		if (r->s->j->bad[node])
			continue;
		if (report_node(r->s, t, node, &err) < 0) {
			t->why[node - first] = strdup(err.text);
			if (err.code == -ENOMEM || !t->why[node - first])
				return -ENOMEM;
		}
	}
	return 0;
}

/* The first name of an id counts. */
static int take_names(struct scribe_survey *s, const struct found *t, struct scribe_pack *pack,
		      struct scribe_bytes *scratch)
{
	int rc = 0;

	for (size_t at = 0; at < t->names.n && rc == 0;) {
		size_t bytes, need;
		uint64_t id;
		const char *text = scribe_bytes_get_name(&t->names, &at, &id, &bytes);

		if (scribe_map_get(&s->named, id))
			continue;
		rc = scribe_map_put(&s->named, id, &mark);
		need = scribe_name_encode(id, text, bytes, NULL, 0);
		if (rc == 0)
			rc = need ? scribe_bytes_room(scratch, need) /* 0: has a NUL */
				  : scribe_bytes_put_name(&s->odd, id, text, bytes);
		if (rc == 0 && need) {
			scribe_name_encode(id, text, bytes, scratch->at, need);
			rc = scribe_pack_put(pack, scratch->at, need);
		}
	}
	return rc;
}

static void take_ranks(struct scribe_survey *s, const struct found *t)
{
	const struct rank_of *of = (const void *)t->ranks.at;
	struct scribe_join *j = s->j;
	char why[512];

	for (size_t i = 0; i < t->ranks.n / sizeof(*of); i++) {
		uint32_t *holder;

		if (of[i].rank < 0 || of[i].rank >= j->job.nprocs)
			continue;
		holder = &s->holder[of[i].rank];
		if (*holder == 0) {
			j->ranks++;
			*holder = (uint32_t)of[i].node + 1;
		}
		if (*holder == of[i].node + 1)
			continue;
		snprintf(why, sizeof(why),
			 "%.200s/%.40s.%.80s.part: rank %" PRId64 " is in the part of %.80s, too: one is "
			 "a copy of the other",
			 j->world->dir, j->world->name, j->world->node[of[i].node], of[i].rank,
			 j->world->node[*holder - 1]);
		scribe_join_is_bad(j, of[i].node, why);
	}
}

/* In the caller's thread. */
static int take(struct scribe_survey *s, const struct found *t, size_t first, struct scribe_pack *pack,
		struct scribe_bytes *scratch)
{
	int rc = take_names(s, t, pack, scratch);

	for (size_t i = 0; i < t->ids.slots && rc == 0; i++)
		if (t->ids.slot[i].records)
			rc = scribe_id_table_add(&s->ids, &t->ids.slot[i]);
	for (size_t i = 0; i < SCRIBE_BATCH_NODES; i++)
		if (t->why[i])
			scribe_join_is_bad(s->j, first + i, t->why[i]);
	take_ranks(s, t);
	s->j->partial |= t->partial;
	if (t->axis.span_ns > s->axis.span_ns)
		s->axis.span_ns = t->axis.span_ns;
	if (t->axis.width > s->axis.width)
		s->axis.width = t->axis.width;
	return rc;
}

static int take_rounds(struct scribe_survey *s, struct scribe_pack *pack, struct scribe_bytes *scratch)
{
	const size_t batches = scribe_survey_batches(s);
	const size_t threads = s->j->world->threads > 1 ? s->j->world->threads : 1;
	struct round r = {.s = s, .found = calloc(threads * AT_ONCE, sizeof(*r.found))};
	int rc = r.found ? 0 : -ENOMEM;

	/* Rounds limit memory to AT_ONCE batches per thread; a slow batch delays only its round. */
	for (; r.first < batches && rc == 0; r.first += threads * AT_ONCE) {
		size_t n = batches - r.first < threads * AT_ONCE ? batches - r.first : threads * AT_ONCE;

		rc = scribe_pool_work((unsigned)threads, n, report_batch, &r);
		for (size_t i = 0; i < n; i++) {
			if (rc == 0)
				rc = take(s, &r.found[i], (r.first + i) * SCRIBE_BATCH_NODES, pack, scratch);
			found_clear(&r.found[i]);
			r.found[i] = (struct found){0};
		}
	}
	free(r.found);
	return rc;
}

static void note_plan(struct scribe_survey *s)
{
	const struct scribe_join *j = s->j;
	const struct {
		int64_t sec, nsec, nprocs, unshared, batch;
	} what = {j->job.start_time_sec, j->job.start_time_nsec, j->job.nprocs, j->info.unshared, SCRIBE_BATCH_NODES};

	/* Anything that changes a batch changes the plan, so that batches of an earlier merge are made again. */
	s->plan = scribe_hash64(&what, sizeof(what), 1);
	for (size_t i = 0; i < j->world->nodes; i++) {
		s->plan = scribe_hash64(j->world->node[i], strlen(j->world->node[i]), s->plan);
		s->plan = scribe_hash64(&s->hash[i], sizeof(s->hash[i]), s->plan ^ j->bad[i]);
	}
}

static int survey(struct scribe_survey *s)
{
	struct scribe_bytes scratch = {0};
	struct scribe_pack *pack = scribe_pack_new(SCRIBE_COMP_ZLIB, 0, scribe_bytes_sink, &s->names);
	int rc;

	s->hash = calloc(s->j->world->nodes + 1, sizeof(*s->hash));
	s->holder = calloc((size_t)(s->j->job.nprocs > 0 ? s->j->job.nprocs : 0) + 1, sizeof(*s->holder));
	rc = pack && s->hash && s->holder ? take_rounds(s, pack, &scratch) : -ENOMEM;
	if (rc == 0)
		rc = scribe_pack_end(pack);
	scribe_pack_free(pack);
	free(scratch.at);
	return rc;
}

int scribe_survey_take(struct scribe_survey *s, struct scribe_join *j)
{
	size_t bad;
	int rc;

	do { /* repeated without parts that proved unusable, because nothing of them may count */
		bad = j->nbad;
		scribe_survey_clear(s);
		s->j = j;
		j->ranks = 0;
		j->partial = 0;
		rc = survey(s);
		if (rc < 0)
			return scribe_err_set(j->err, rc, "out of memory");
		rc = scribe_join_check(j);
		if (rc < 0)
			return rc;
	} while (j->nbad > bad);
	note_plan(s);
	return 0;
}

void scribe_survey_clear(struct scribe_survey *s)
{
	scribe_id_table_clear(&s->ids);
	scribe_map_clear(&s->named);
	free(s->names.at);
	free(s->odd.at);
	free(s->hash);
	free(s->holder);
	*s = (struct scribe_survey){0};
}
