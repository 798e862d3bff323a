/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of bins per rank and module, owned by the rank. Widths are powers of two from the unit's base, so that
 * tables of different widths can be added. Main thread; gathering in the log builder. Must not know how bins
 * are filled.
 */
#include "runtime/daemon/tables/heatmaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/records/heat.h"

/* in the order of the log's records */
static const struct {
	int module;
	const char *name;
} maps[] = {
	{SCRIBE_MOD_POSIX, "heatmap:POSIX"},
	{SCRIBE_MOD_MPIIO, "heatmap:MPIIO"},
	{SCRIBE_MOD_STDIO, "heatmap:STDIO"},
};
#define MAPS (sizeof(maps) / sizeof(maps[0]))

struct scribe_rank_heat {
	struct scribe_heat_table map[MAPS];
};

/* The log's start if fixed, otherwise that of the first process. */
static uint64_t base_of(const struct scribe_log_unit *u)
{
	return u->base_ns ? u->base_ns : u->start_ns;
}

/* NULL: not a heatmap's module, or out of memory. */
static struct scribe_heat_table *map_of(struct scribe_process *p, int module)
{
	struct scribe_rank *r = p->rank;
	size_t i = 0;

	while (i < MAPS && maps[i].module != module)
		i++;
	if (i == MAPS || !r)
		return NULL;
	if (!r->heat) {
		r->heat = calloc(1, sizeof(*r->heat));
		for (size_t k = 0; r->heat && k < MAPS; k++)
			r->heat->map[k].base_ns = base_of(p->unit);
	}
	if (!r->heat)
		p->job->losses.heat++;
	return r->heat ? &r->heat->map[i] : NULL;
}

static void put(struct scribe_heat_table *to, uint64_t from_ns, uint64_t to_ns, const uint64_t bytes[2])
{
	struct scribe_heat h = {
		.from_ns = from_ns, .to_ns = to_ns > from_ns ? to_ns : from_ns + 1, .bytes = {bytes[0], bytes[1]}};

	if (bytes[0] | bytes[1])
		scribe_heat_put(to, &h);
}

void scribe_heatmaps_add(struct scribe_process *p, int module, const struct scribe_heat *heat,
			 const struct scribe_heat_table *table, const struct scribe_posix_shard *shard)
{
	struct scribe_heat_table *to = map_of(p, module);

	if (!to)
		return;
	if (table)
		scribe_heat_add(to, table);
	if (heat->from_ns) {
		put(to, heat->from_ns, heat->to_ns, heat->bytes);
		/* without a table: spread over this time; the log is incomplete if it exceeds a bin */
		if (heat->to_ns - heat->from_ns > p->job->losses.heat_wide_ns)
			p->job->losses.heat_wide_ns = heat->to_ns - heat->from_ns;
	}
	for (int w = 0; w < 2; w++) {
		const uint64_t bytes[2] = {w ? 0 : heat->spill[0], w ? heat->spill[1] : 0};

		put(to, shard->start[w], shard->end[w], bytes);
	}
}

void scribe_heatmaps_forget(struct scribe_rank *r)
{
	free(r->heat);
	r->heat = NULL;
}

uint64_t scribe_heatmaps_base(const struct scribe_process *p)
{
	return p->unit ? base_of(p->unit) : 0;
}

void scribe_heatmaps_anchor(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, p->index, p->proc_id);

	if (proc && scribe_heatmaps_base(p))
		/* relaxed: existing bins keep their base */
		__atomic_store_n(&proc->heat_base_ns, scribe_heatmaps_base(p), __ATOMIC_RELAXED);
}

/* Ranks without bytes get no record. */
static bool is_empty(const struct scribe_heat_table *t)
{
	for (size_t i = 0; i < SCRIBE_HEAT_BINS; i++)
		if (t->bin[i].bytes[0] | t->bin[i].bytes[1])
			return false;
	return true;
}

static int add_record(struct scribe_bundle *b, const struct scribe_heat_table *from, const char *name, int64_t rank,
		      const struct scribe_heat_table *axis, size_t nbins)
{
	struct scribe_heat_table t = {.base_ns = axis->base_ns, .shift = axis->shift};
	struct scribe_heatmap_record *rec = malloc(scribe_heat_record_bytes(nbins));
	int rc = rec ? 0 : -ENOMEM;

	if (rc < 0)
		return rc;
	scribe_heat_add(&t, from);
	scribe_heat_write(&t, nbins, scribe_record_id(name, strlen(name)), rank, rec);
	rc = scribe_bundle_add(b, SCRIBE_MOD_HEATMAP, rec, scribe_heat_record_bytes(nbins));
	free(rec);
	return rc;
}

static void axis_fit(struct scribe_heat_table *axis, const struct scribe_heat_table *t)
{
	while (axis->shift < t->shift && axis->shift < SCRIBE_HEAT_SHIFT_MOST)
		axis->shift++;
}

int scribe_heatmaps_gather(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns, uint64_t end_ns,
			   struct scribe_bundle *b, uint64_t *partial)
{
	struct scribe_heat_table axis = {.base_ns = base_ns};
	const uint64_t span = end_ns > base_ns ? end_ns - base_ns : 1;
	struct scribe_rank **ranks = NULL;
	uint64_t width;
	size_t n = 0, nbins;
	int rc = 0;

	if (job->config.exclusion_rules.modules_off >> SCRIBE_MOD_HEATMAP & 1)
		return 0;
	rc = scribe_log_unit_ranks(u, &ranks, &n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		for (size_t k = 0; ranks[i]->heat && k < MAPS; k++)
			axis_fit(&axis, &ranks[i]->heat->map[k]);
	/* equal bins for all records, as wide as the widest table and at most SCRIBE_HEAT_BINS */
	while (axis.shift < SCRIBE_HEAT_SHIFT_MOST && span > SCRIBE_HEAT_BINS * (SCRIBE_HEAT_WIDTH_NS << axis.shift))
		axis.shift++;
	width = SCRIBE_HEAT_WIDTH_NS << axis.shift;
	nbins = scribe_heat_nbins(span, axis.shift);
	for (size_t k = 0; k < MAPS; k++)
		for (size_t i = 0; rc == 0 && i < n; i++)
			if (ranks[i]->heat && !is_empty(&ranks[i]->heat->map[k]))
				rc = add_record(b, &ranks[i]->heat->map[k], maps[k].name, ranks[i]->rank, &axis, nbins);
	free(ranks);
	if (job->losses.heat || job->losses.heat_wide_ns > width)
		*partial |= 1ull << SCRIBE_MOD_HEATMAP;
	return rc;
}

size_t scribe_heatmaps_name(const struct scribe_bundled *rec, char *ret, size_t cap)
{
	for (size_t k = 0; rec->module == SCRIBE_MOD_HEATMAP && k < MAPS; k++)
		if (rec->id == scribe_record_id(maps[k].name, strlen(maps[k].name)))
			return (size_t)snprintf(ret, cap, "%s", maps[k].name);
	return 0;
}
