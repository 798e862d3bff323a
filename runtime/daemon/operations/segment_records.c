/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments by rank and file (main thread), triggers, records (log builder). Ranks own scribe_rank_trace. Must not
 * know the kernel's side.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "runtime/daemon/operations/segments_private.h"

/* on the stack, 20 KiB */
#define WRITTEN_AT_ONCE 512
/* 2^-26 s (15 ns), less than a call: finer times cost half a byte per segment (docs/format.md). */
#define TIME_QUANTUM 67108864.0

struct scribe_rank_trace *scribe_rank_trace_of(struct scribe_rank_trace **at, struct scribe_segments *s)
{
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at)
			(*at)->of = s;
	}
	return *at;
}

enum scribe_traced_module scribe_traced_module_of(uint32_t slot_kind)
{
	return slot_kind == SCRIBE_KIND_MPIIO ? SCRIBE_TRACED_MPIIO : SCRIBE_TRACED_POSIX;
}

static const enum scribe_module_id log_module[SCRIBE_TRACED_MODULES] = {SCRIBE_MOD_DXT_POSIX, SCRIBE_MOD_DXT_MPIIO};

static int trace_add(struct scribe_rank_trace *t, enum scribe_traced_module module, uint64_t id,
		     struct scribe_traced *e)
{
	size_t at = (size_t)(uintptr_t)scribe_map_get(&t->by_id[module], id);

	if (!at) {
		if (t->n == t->capacity) {
			size_t capacity = t->capacity ? 2 * t->capacity : 16;
			struct scribe_rank_record *more = realloc(t->record, capacity * sizeof(*more));

			if (!more)
				return -ENOMEM;
			t->record = more;
			t->capacity = capacity;
		}
		/* the index + 1: the array moves, and 0 means absent */
		if (scribe_map_put(&t->by_id[module], id, (void *)(uintptr_t)(t->n + 1)) < 0)
			return -ENOMEM;
		t->record[t->n++] = (struct scribe_rank_record){.id = id, .module = module};
		at = t->n;
	}
	e->same = t->record[at - 1].first;
	t->record[at - 1].first = e;
	return 0;
}

/* The entry remains: later segments are dropped, too. */
static void drop(struct scribe_segments *s, struct scribe_traced *e)
{
	scribe_track_clear(&s->store, &e->track);
	e->state = SCRIBE_TRACED_DROPPED;
}

void scribe_traced_bind(struct scribe_job *job, struct scribe_segments *s, struct scribe_rank_trace *t,
			struct scribe_traced *e, enum scribe_traced_module module, uint64_t id)
{
	if (module == SCRIBE_TRACED_MPIIO && id)
		s->mpiio = true;
	if (id && t && trace_add(t, module, id, e) == 0) {
		e->state = SCRIBE_TRACED_BOUND;
		return;
	}
	if (id)
		job->losses.memory++;
	s->kept -= e->track.side[0].n + e->track.side[1].n;
	drop(s, e);
}

void scribe_rank_trace_free(struct scribe_rank_trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		for (struct scribe_traced *e = t->record[i].first; e; e = e->same)
			drop(t->of, e);
	for (int i = 0; i < SCRIBE_TRACED_MODULES; i++)
		scribe_map_clear(&t->by_id[i]);
	free(t->record);
	free(t);
}

void scribe_segments_forget(struct scribe_rank *r)
{
	scribe_rank_trace_free(r->trace);
	r->trace = NULL;
}

struct shares {
	uint64_t all, small, unaligned;
};

/* buckets of Darshan's histogram of sizes */
#define SMALL_BUCKETS 3 /* up to 10 KiB */

static void add_shares(struct shares *s, const struct scribe_records *records, uint64_t id)
{
	const struct scribe_file_record *f = scribe_records_find(records, SCRIBE_MOD_POSIX, id);

	for (int w = 0; f && w < 2; w++) {
		s->all += f->acc.sum.ops[w];
		for (int i = 0; i < SMALL_BUCKETS; i++)
			s->small += f->acc.sum.size[w][i];
	}
	s->unaligned += f ? f->acc.sum.file_not_aligned : 0;
}

/* As in Darshan, all triggers must match. */
static bool is_kept(const struct scribe_config *c, const struct shares *s)
{
	const double all = (double)s->all;

	return s->all && (double)s->small / all >= c->dxt_small && (double)s->unaligned / all >= c->dxt_unaligned;
}

static void drop_record(struct scribe_segments *s, const struct scribe_rank_record *rec)
{
	for (struct scribe_traced *e = rec->first; e; e = e->same) {
		s->kept -= e->track.side[0].n + e->track.side[1].n;
		drop(s, e);
	}
}

static bool has_any(const struct scribe_rank_record *rec)
{
	for (const struct scribe_traced *e = rec->first; e; e = e->same)
		if (e->track.side[0].n || e->track.side[1].n)
			return true;
	return false;
}

/* Also its MPI-IO record. Those without system calls are kept. */
static void drop_file(struct scribe_segments *s, const struct scribe_rank_trace *t,
		      const struct scribe_rank_record *rec)
{
	size_t at = (size_t)(uintptr_t)scribe_map_get(&t->by_id[SCRIBE_TRACED_MPIIO], rec->id);

	drop_record(s, rec);
	if (at)
		drop_record(s, &t->record[at - 1]);
}

void scribe_segments_filter(struct scribe_job *job, const struct scribe_log_unit *u)
{
	if (!job->segments || (job->config.dxt_small <= 0 && job->config.dxt_unaligned <= 0))
		return;
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		struct scribe_rank *r = u->ranks.entry[i].value;

		for (size_t k = 0; r && r->trace && k < r->trace->n; k++) {
			struct shares s = {0};

			if (r->trace->record[k].module != SCRIBE_TRACED_POSIX || !has_any(&r->trace->record[k]))
				continue;
			add_shares(&s, r->records, r->trace->record[k].id);
			add_shares(&s, r->fetched, r->trace->record[k].id);
			if (!is_kept(&job->config, &s))
				drop_file(job->segments, r->trace, &r->trace->record[k]);
		}
	}
}

/* Counts per side; `ret_tracks` may be NULL. */
static size_t tracks_of(const struct scribe_rank_record *rec, struct scribe_track **ret_tracks, int64_t ret_n[2])
{
	size_t n = 0;

	ret_n[0] = ret_n[1] = 0;
	for (struct scribe_traced *e = rec->first; e; e = e->same) {
		ret_n[0] += (int64_t)e->track.side[0].n;
		ret_n[1] += (int64_t)e->track.side[1].n;
		if (ret_tracks)
			ret_tracks[n] = &e->track;
		n++;
	}
	return n;
}

int scribe_rank_trace_names(const struct scribe_rank_trace *t, int (*fn)(void *ctx, uint64_t id), void *ctx)
{
	int64_t n[2];
	int rc = 0;

	for (size_t k = 0; t && k < t->n && rc == 0; k++) {
		tracks_of(&t->record[k], NULL, n);
		if (n[0] + n[1])
			rc = fn(ctx, t->record[k].id);
	}
	return rc;
}

int scribe_segments_names(const struct scribe_log_unit *u, int (*fn)(void *ctx, uint64_t id), void *ctx)
{
	struct scribe_rank **ranks;
	size_t n = 0;
	int rc = scribe_log_unit_ranks(u, &ranks, &n);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = scribe_rank_trace_names(ranks[i]->trace, fn, ctx);
	free(ranks);
	return rc;
}

struct record_out {
	struct scribe_writer *wr;
	enum scribe_traced_module module;
	uint64_t base_ns;
	bool threads; /* segments end with their thread */
};

static double seconds_of(uint64_t ns, uint64_t base_ns)
{
	const double ticks = ns > base_ns ? (double)(ns - base_ns) * (TIME_QUANTUM / 1e9) : 0;

	return (double)(uint64_t)(ticks + 0.5) / TIME_QUANTUM;
}

static int put(const struct record_out *o, const void *bytes, size_t n)
{
	const struct scribe_module *m = scribe_module_by_id(log_module[o->module]);

	return scribe_writer_raw(o->wr, log_module[o->module], o->threads ? m->accepts : m->version, bytes, n);
}

static int put_segments(const struct record_out *o, const struct scribe_dxt_segment *segment, size_t n)
{
	/* without threads as in Darshan */
	const size_t each = o->threads ? sizeof(*segment) : offsetof(struct scribe_dxt_segment, thread);
	char bytes[WRITTEN_AT_ONCE * sizeof(*segment)];

	for (size_t i = 0; i < n; i++)
		memcpy(bytes + i * each, &segment[i], each);
	return n ? put(o, bytes, n * each) : 0;
}

/* Piece by piece: a record may have millions of segments. */
static int write_side(struct scribe_segments *s, const struct record_out *o, struct scribe_track *const *tracks,
		      size_t n, unsigned side)
{
	struct scribe_dxt_segment out[WRITTEN_AT_ONCE];
	struct scribe_segmerge m;
	struct scribe_seg seg;
	size_t have = 0;
	int rc = scribe_segmerge_begin(&m, tracks, n, side);

	while (rc == 0 && (rc = scribe_segmerge_next(&m, &seg)) > 0) {
		rc = 0;
		out[have++] = (struct scribe_dxt_segment){seg.offset, (int64_t)seg.bytes,
							  seconds_of(seg.start_ns, o->base_ns),
							  seconds_of(seg.end_ns, o->base_ns), seg.thread};
		if (have == WRITTEN_AT_ONCE) {
			rc = put_segments(o, out, have);
			have = 0;
		}
	}
	/* unreadable, if not the writer's error */
	s->broken |= rc < 0 && !scribe_writer_error(o->wr)->text[0];
	if (rc == 0)
		rc = put_segments(o, out, have);
	scribe_segmerge_end(&m);
	return rc;
}

static int write_record(const struct scribe_job *job, struct scribe_segments *s, int64_t rank,
			const struct scribe_rank_record *rec, const struct record_out *o)
{
	struct scribe_dxt_record head = {.base = {.id = rec->id, .rank = rank}};
	struct scribe_track **tracks;
	int64_t n[2];
	size_t count = tracks_of(rec, NULL, n);
	int rc;

	if (!n[0] && !n[1])
		return 0;
	/* the sum over several processes */
	if ((uint64_t)n[0] + (uint64_t)n[1] > SCRIBE_SEGMENTS_MOST) {
		s->broken = true;
		return -EFBIG;
	}
	tracks = calloc(count, sizeof(struct scribe_track *));
	if (!tracks)
		return -ENOMEM;
	tracks_of(rec, tracks, n);
	head.write_count = n[SCRIBE_SEGMENT_WRITE];
	head.read_count = n[SCRIBE_SEGMENT_READ];
	memcpy(head.hostname, job->host, strnlen(job->host, sizeof(head.hostname) - 1));
	rc = put(o, &head, sizeof(head));
	if (rc == 0)
		rc = write_side(s, o, tracks, count, SCRIBE_SEGMENT_WRITE);
	if (rc == 0)
		rc = write_side(s, o, tracks, count, SCRIBE_SEGMENT_READ);
	free(tracks);
	return rc;
}

int scribe_rank_trace_write(const struct scribe_job *job, int64_t rank, const struct scribe_rank_trace *t,
			    enum scribe_traced_module module, uint64_t base_ns, struct scribe_writer *wr)
{
	const struct record_out o = {wr, module, base_ns, job->config.dxt_threads};
	int rc = 0;

	for (size_t k = 0; t && k < t->n && rc == 0; k++)
		if (t->record[k].module == module)
			rc = write_record(job, t->of, rank, &t->record[k], &o);
	return rc;
}

int scribe_segments_write(const struct scribe_job *job, const struct scribe_log_unit *u, uint64_t base_ns,
			  struct scribe_writer *wr)
{
	struct scribe_rank **ranks = NULL;
	size_t n = 0;
	int rc = job->segments ? scribe_log_unit_ranks(u, &ranks, &n) : 0;

	for (size_t i = 0; rc == 0 && i < SCRIBE_TRACED_MODULES * n; i++)
		rc = scribe_rank_trace_write(job, ranks[i % n]->rank, ranks[i % n]->trace,
					     (enum scribe_traced_module)(i / n), base_ns, wr);
	free(ranks);
	return rc;
}

bool scribe_segments_broken(const struct scribe_job *job)
{
	return job->segments && job->segments->broken;
}

uint64_t scribe_segments_missing(const struct scribe_segments *s)
{
	return 1ull << SCRIBE_MOD_DXT_POSIX | (s->mpiio ? 1ull << SCRIBE_MOD_DXT_MPIIO : 0);
}

int scribe_segments_file(const struct scribe_job *job)
{
	return job->segments ? job->segments->store.fd : -1;
}

uint64_t scribe_segments_ledger(const struct scribe_job *job, struct scribe_ledger *ledger)
{
	const struct scribe_segments *s = job->segments;
	uint64_t partial = 0;

	if (!s)
		return 0;
	ledger->v[SCRIBE_L_SEGMENTS] = s->kept;
	ledger->v[SCRIBE_L_SEGMENTS_NO_ROOM] = s->no_room;
	ledger->v[SCRIBE_L_SEGMENTS_UNTOLD] = s->untold;
	if (ledger->v[SCRIBE_L_SEGMENTS_NO_LEAF] || s->no_room || s->untold)
		partial = scribe_segments_missing(s);
	if (job->losses.rings)
		partial |= 1ull << SCRIBE_MOD_DXT_MPIIO;
	ledger->v[SCRIBE_L_SEGMENTS_NO_LEAF] += job->losses.rings;
	return partial;
}
