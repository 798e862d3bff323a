// SPDX-License-Identifier: BSD-3-Clause
/*
 * A phase is a set of files that were open without a longer pause between them, one at least of each rank or one of all
 * ranks. A file during which its rank wrote a larger one (a log) belongs to none. Reading likewise, by stretches
 * instead of files. Must not know text.
 */
#include "util/logs/phases.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"
#include "util/logs/sum.h"

#define SPAN_MAX    1e12 /* s; longer is damage, not a job */
#define PAUSE_SHARE 0.1  /* of the phase so far */
#define LOOK_MAX    64   /* files that are compared with one */

struct scribe_stretch {
	int64_t rank; /* -1: all */
	double begin, end, first_end;
	int64_t bytes, syncs;
};

static const struct {
	int module;
	short bytes, syncs[2], open, close_first, close, write_first, write;
} times[] = {
	{SCRIBE_MOD_POSIX,
	 SCRIBE_POSIX_BYTES_WRITTEN,
	 {SCRIBE_POSIX_FSYNCS, SCRIBE_POSIX_FDSYNCS},
	 SCRIBE_POSIX_F_OPEN_START_TIMESTAMP,
	 SCRIBE_POSIX_F_CLOSE_START_TIMESTAMP,
	 SCRIBE_POSIX_F_CLOSE_END_TIMESTAMP,
	 SCRIBE_POSIX_F_WRITE_START_TIMESTAMP,
	 SCRIBE_POSIX_F_WRITE_END_TIMESTAMP},
	{SCRIBE_MOD_STDIO,
	 SCRIBE_STDIO_BYTES_WRITTEN,
	 {-1, -1},
	 SCRIBE_STDIO_F_OPEN_START_TIMESTAMP,
	 SCRIBE_STDIO_F_CLOSE_START_TIMESTAMP,
	 SCRIBE_STDIO_F_CLOSE_END_TIMESTAMP,
	 SCRIBE_STDIO_F_WRITE_START_TIMESTAMP,
	 SCRIBE_STDIO_F_WRITE_END_TIMESTAMP},
};

static int put(struct scribe_phases *p, const struct scribe_stretch *w)
{
	if (p->nstretches == p->capacity) {
		size_t capacity = p->capacity ? 2 * p->capacity : 256;
		struct scribe_stretch *more = realloc(p->stretch, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->stretch = more;
		p->capacity = capacity;
	}
	p->stretch[p->nstretches++] = *w;
	return 0;
}

int scribe_phases_take(struct scribe_phases *p, int module, const void *record)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	const struct scribe_base_record *base = record;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const int64_t *c;
		const double *f;
		struct scribe_stretch w = {.rank = base->rank};

		if (times[i].module != module)
			continue;
		c = scribe_record_counters(m, record);
		f = scribe_record_fcounters(m, record);
		w.bytes = c[times[i].bytes];
		for (int k = 0; k < 2; k++)
			if (times[i].syncs[k] >= 0 && c[times[i].syncs[k]] > 0)
				w.syncs = scribe_sum(w.syncs, c[times[i].syncs[k]]);
		w.begin = f[times[i].open] > 0 ? f[times[i].open] : f[times[i].write_first];
		w.end = f[times[i].close] > f[times[i].write] ? f[times[i].close] : f[times[i].write];
		w.first_end = f[times[i].close_first] > 0 ? f[times[i].close_first] : w.end;
		if (w.bytes > 0 && w.rank >= -1 && w.begin > 0 && w.end >= w.begin && w.end < SPAN_MAX)
			return put(p, &w);
	}
	return 0;
}

int scribe_phases_take_reads(struct scribe_phases *p, int64_t rank, double begin, double end, int64_t bytes)
{
	struct scribe_stretch w = {.rank = rank, .begin = begin, .end = end, .first_end = end, .bytes = bytes};

	p->reads = true;
	return bytes > 0 && rank >= 0 && begin >= 0 && end >= begin && end < SPAN_MAX ? put(p, &w) : 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct scribe_stretch *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_rank(const void *a, const void *b)
{
	const struct scribe_stretch *x = a, *y = b;
	const int order = (x->rank > y->rank) - (x->rank < y->rank);

	return order ? order : by_begin(a, b);
}

/* `group`: files of one rank, by begin. */
static bool contains_larger(const struct scribe_stretch *w, int64_t bytes, const struct scribe_stretch *group, size_t n)
{
	size_t from = 0, to = n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (group[middle].begin < w->begin)
			from = middle + 1;
		else
			to = middle;
	}
	for (size_t i = from; i < n && i - from < LOOK_MAX && group[i].begin < w->end; i++)
		if (&group[i] != w && group[i].end <= w->end && group[i].bytes > bytes)
			return true;
	return false;
}

static size_t group_size(const struct scribe_stretch *w, const struct scribe_stretch *end)
{
	size_t n = 1;

	while (w + n < end && w[n].rank == w->rank)
		n++;
	return n;
}

/* Takes out what contains larger files. */
static int drop_logs(struct scribe_phases *p, int64_t nprocs)
{
	struct scribe_stretch *w = p->stretch, *end = w + p->nstretches;
	const size_t shared = w < end && w->rank < 0 ? group_size(w, end) : 0;
	const size_t first = w + shared < end ? group_size(w + shared, end) : 0; /* files of the lowest rank */
	size_t kept = 0;
	bool *drop = calloc(p->nstretches + 1, sizeof(*drop));

	if (!drop)
		return -ENOMEM;
	for (size_t at = 0, n; at < p->nstretches; at += n) {
		n = group_size(w + at, end);
		for (size_t i = at; i < at + n; i++)
			drop[i] = contains_larger(&w[i], w[i].bytes, w + at, n) ||
				  (i < shared && contains_larger(&w[i], w[i].bytes / nprocs, w + shared, first));
	}
	for (size_t i = 0; i < p->nstretches; i++)
		if (!drop[i])
			w[kept++] = w[i];
	p->nstretches = kept;
	free(drop);
	return 0;
}

/* False: not all ranks wrote. */
static bool phase_of(struct scribe_stretch *w, size_t n, int64_t nprocs, struct scribe_phase *ret)
{
	struct scribe_phase phase = {.begin = w[0].begin, .first_rank = -1, .last_rank = -1, .files = (int64_t)n};
	int64_t ranks = 0;
	bool shared = false;

	for (size_t i = 0; i < n; i++) {
		phase.end = w[i].end > phase.end ? w[i].end : phase.end;
		phase.bytes = scribe_sum(phase.bytes, w[i].bytes);
		phase.syncs = scribe_sum(phase.syncs, w[i].syncs);
	}
	phase.first_end = phase.end;
	qsort(w, n, sizeof(*w), by_rank);
	for (size_t at = 0, of; at < n; at += of) {
		double last = 0, first = SPAN_MAX;

		of = group_size(w + at, w + n);
		for (size_t i = at; i < at + of; i++) {
			last = w[i].end > last ? w[i].end : last;
			first = w[i].first_end < first ? w[i].first_end : first;
		}
		if (w[at].rank < 0) {
			shared = true;
			phase.first_end = first < phase.first_end ? first : phase.first_end;
			continue;
		}
		ranks++;
		if (last < phase.first_end || (last == phase.first_end && phase.first_rank < 0)) {
			phase.first_end = last;
			phase.first_rank = w[at].rank;
		}
		if (last == phase.end && phase.last_rank < 0)
			phase.last_rank = w[at].rank;
	}
	*ret = phase;
	return shared || ranks == nprocs;
}

int scribe_phases_find(struct scribe_phases *p, int64_t nprocs)
{
	struct scribe_stretch *w = p->stretch;
	size_t to;

	if (nprocs < 2 || !p->nstretches)
		return 0;
	qsort(w, p->nstretches, sizeof(*w), by_rank);
	p->phase = calloc(p->nstretches + 1, sizeof(*p->phase));
	if (!p->phase || (!p->reads && drop_logs(p, nprocs) < 0))
		return -ENOMEM;
	qsort(w, p->nstretches, sizeof(*w), by_begin);
	for (size_t at = 0; at < p->nstretches; at = to) {
		double end = w[at].end;

		for (to = at + 1; to < p->nstretches; to++) {
			if (w[to].begin > end + SCRIBE_PHASES_PAUSE + PAUSE_SHARE * (end - w[at].begin))
				break;
			end = w[to].end > end ? w[to].end : end;
		}
		p->n += phase_of(w + at, to - at, nprocs, &p->phase[p->n]);
	}
	free(p->stretch);
	p->stretch = NULL;
	p->nstretches = p->capacity = 0;
	return 0;
}

void scribe_phases_clear(struct scribe_phases *p)
{
	free(p->stretch);
	free(p->phase);
	memset(p, 0, sizeof(*p));
}
