/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time as in Darshan's heatmaps (docs/counters.md): 200 bins of 0.1 s that double in width as
 * needed. Nearly every operation falls into the one bin in its record; only longer use needs a table. Sums are
 * exact.
 */
#ifndef LOGFMT_RULES_HEAT_RULES_H
#define LOGFMT_RULES_HEAT_RULES_H

#include "logfmt/rules/types.h"

#define SCRIBE_HEAT_BINS       200u
#define SCRIBE_HEAT_WIDTH_NS   100000000ull
#define SCRIBE_HEAT_ROUND      4u  /* bins per step */
#define SCRIBE_HEAT_SHIFT_MOST 30u /* 681 years */

struct scribe_heat_bin {
	scribe_u64 bytes[2]; /* READ, WRITE */
};

/* Zeros except base_ns: empty. */
struct scribe_heat_table {
	scribe_u64 base_ns; /* start of the first bin, CLOCK_MONOTONIC */
	scribe_u32 shift;
	scribe_u32 by; /* scratch */
	struct scribe_heat_bin bin[SCRIBE_HEAT_BINS];
};

/* A record's current bin, changed by the holder of the record's shard. */
struct scribe_heat {
	scribe_u64 from_ns;  /* start; 0: empty */
	scribe_u64 to_ns;    /* end: 0.1 s later, or more if a table could not be allocated */
	scribe_u64 bytes[2]; /* READ, WRITE */
	scribe_u32 table;    /* 1 + index; 0: none */
	scribe_u32 lock;     /* of the shared shard: 1 while it is changed */
	scribe_u64 spill[2]; /* of the shared shard: bytes moved while it was locked */
};

SCRIBE_INLINE int scribe_heat_is_near(const struct scribe_heat *h, scribe_u64 start_ns, scribe_u64 end_ns)
{
	scribe_u64 from = h->from_ns;

	return end_ns - from < SCRIBE_HEAT_WIDTH_NS && start_ns - from < SCRIBE_HEAT_WIDTH_NS;
}

SCRIBE_INLINE scribe_u64 scribe_heat_floor(scribe_u64 base_ns, scribe_u64 ns)
{
	return ns <= base_ns ? base_ns : ns - (ns - base_ns) % SCRIBE_HEAT_WIDTH_NS;
}

/* Verifiers before Linux 6.4 do not always use what a comparison implies. */
SCRIBE_INLINE scribe_u32 scribe_heat_at(scribe_u64 n)
{
	scribe_u32 at = (scribe_u32)n;

	__asm__ volatile("" : "+r"(at));
	return at < SCRIBE_HEAT_BINS ? at : SCRIBE_HEAT_BINS - 1;
}

/* To their index at 2^by times the width. */
SCRIBE_INLINE void scribe_heat_fold(struct scribe_heat_table *t, scribe_u32 first, scribe_u32 by)
{
	for (scribe_u32 n = 0; n < SCRIBE_HEAT_ROUND; n++) {
		struct scribe_heat_bin *from = &t->bin[scribe_heat_at(first + n)];
		struct scribe_heat_bin *to = &t->bin[scribe_heat_at((first + n) >> (by & 31))];
		scribe_u64 r = from->bytes[0], w = from->bytes[1];

		from->bytes[0] = 0;
		from->bytes[1] = 0;
		to->bytes[0] += r;
		to->bytes[1] += w;
	}
}

/* 1: `n` has a bit at or above `bit`. A verifier would follow both sides of a branch. */
SCRIBE_INLINE scribe_u64 scribe_heat_has(scribe_u64 n, scribe_u32 bit)
{
	const scribe_u64 high = n >> bit;

	return (high | (0 - high)) >> 63;
}

/* Low bits to drop: at most 31 are left, of a longer time at least 27. */
SCRIBE_INLINE scribe_u64 scribe_heat_cut(scribe_u64 ns)
{
	return 4 *
	       (scribe_heat_has(ns, 31) + scribe_heat_has(ns, 35) + scribe_heat_has(ns, 39) + scribe_heat_has(ns, 43) +
		scribe_heat_has(ns, 47) + scribe_heat_has(ns, 51) + scribe_heat_has(ns, 55) + scribe_heat_has(ns, 59));
}

/* Rounded down; part <= whole < 2^32. */
SCRIBE_INLINE scribe_u64 scribe_heat_share(scribe_u64 bytes, scribe_u64 part, scribe_u64 whole)
{
	return bytes / whole * part + bytes % whole * part / whole;
}

/* Spreads h's bytes by time over some bins. 0: h is empty. Times outside count in the first or last bin. */
SCRIBE_INLINE int scribe_heat_some(struct scribe_heat_table *t, struct scribe_heat *h)
{
	const scribe_u64 width = SCRIBE_HEAT_WIDTH_NS << (t->shift & 31);
	const scribe_u64 to = h->to_ns > t->base_ns ? h->to_ns - t->base_ns : 0;
	scribe_u64 at = h->from_ns > t->base_ns ? h->from_ns - t->base_ns : 0;
	const scribe_u64 cut = scribe_heat_cut(to > at ? to - at : 0);

	for (scribe_u32 n = 0; n < SCRIBE_HEAT_ROUND; n++) {
		const scribe_u64 i = at / width, edge = (i + 1) * width;
		struct scribe_heat_bin *bin = &t->bin[scribe_heat_at(i)];

		if (edge >= to || i >= SCRIBE_HEAT_BINS - 1) {
			bin->bytes[0] += h->bytes[0];
			bin->bytes[1] += h->bytes[1];
			h->bytes[0] = 0;
			h->bytes[1] = 0;
			h->from_ns = 0;
			return 0;
		}
		for (int w = 0; w < 2; w++) {
			const scribe_u64 share = scribe_heat_share(h->bytes[w], (edge - at) >> cut, (to - at) >> cut);

			bin->bytes[w] += share;
			h->bytes[w] -= share;
		}
		at = edge;
		h->from_ns = t->base_ns + at;
	}
	return 1;
}

/* Verified once (bpf/kern/heat.bpf.h). */
#ifdef __bpf__
int scribe_heat_fold_once(struct scribe_heat_table *t, scribe_u32 first, scribe_u32 by);
int scribe_heat_fit_once(struct scribe_heat_table *t, scribe_u64 to_ns);
int scribe_heat_some_once(struct scribe_heat_table *t, struct scribe_heat *h);
#define SCRIBE_HEAT_FOLD scribe_heat_fold_once
#define SCRIBE_HEAT_FIT  scribe_heat_fit_once
#define SCRIBE_HEAT_SOME scribe_heat_some_once
#else
#define SCRIBE_HEAT_FOLD scribe_heat_fold
#define SCRIBE_HEAT_FIT  scribe_heat_fit
#define SCRIBE_HEAT_SOME scribe_heat_some
#endif

/* Widens bins until the table reaches to_ns. */
SCRIBE_INLINE void scribe_heat_fit(struct scribe_heat_table *t, scribe_u64 to_ns)
{
	scribe_u64 last = to_ns > t->base_ns ? (to_ns - t->base_ns - 1) / SCRIBE_HEAT_WIDTH_NS : 0;
	scribe_u32 by = 0;

	last >>= t->shift & 31;
	if (last < SCRIBE_HEAT_BINS)
		return;
	while (by < SCRIBE_HEAT_SHIFT_MOST && (last >> by) >= SCRIBE_HEAT_BINS)
		by++;
	*(volatile scribe_u32 *)&t->by = by; /* otherwise the verifier follows each value separately */
	by = *(volatile scribe_u32 *)&t->by;
	if (t->shift + by > SCRIBE_HEAT_SHIFT_MOST)
		return;
	for (scribe_u32 first = 0; first < SCRIBE_HEAT_BINS; first += SCRIBE_HEAT_ROUND)
		SCRIBE_HEAT_FOLD(t, first, by);
	t->shift += by;
}

SCRIBE_INLINE void scribe_heat_put(struct scribe_heat_table *t, struct scribe_heat *h)
{
	SCRIBE_HEAT_FIT(t, h->to_ns);
	for (scribe_u32 n = 0; n < SCRIBE_HEAT_BINS / SCRIBE_HEAT_ROUND; n++)
		if (!SCRIBE_HEAT_SOME(t, h))
			return;
}

SCRIBE_INLINE void scribe_heat_begin(struct scribe_heat *h, scribe_u64 from_ns, scribe_u64 to_ns, scribe_u64 bytes,
				     scribe_u32 w)
{
	h->from_ns = from_ns;
	h->to_ns = to_ns;
	h->bytes[0] = w & 1 ? 0 : bytes;
	h->bytes[1] = w & 1 ? bytes : 0;
}

SCRIBE_INLINE int scribe_heat_wants_table(const struct scribe_heat *h, scribe_u64 base_ns, scribe_u64 start_ns,
					  scribe_u64 end_ns)
{
	return h->from_ns || end_ns - scribe_heat_floor(base_ns, start_ns) >= SCRIBE_HEAT_WIDTH_NS;
}

/* `t` NULL: not needed or not available; then the record's bin is widened. */
SCRIBE_INLINE void scribe_heat_move(struct scribe_heat *h, struct scribe_heat_table *t, scribe_u64 base_ns,
				    scribe_u64 start_ns, scribe_u64 end_ns, scribe_u64 bytes, scribe_u32 w)
{
	const scribe_u64 at = scribe_heat_floor(base_ns, start_ns);
	const int within = end_ns - at < SCRIBE_HEAT_WIDTH_NS;

	if (h->from_ns && !t) {
		if (end_ns >= h->to_ns)
			h->to_ns = end_ns + 1;
		h->bytes[w & 1] += bytes;
		return;
	}
	if (h->from_ns)
		scribe_heat_put(t, h);
	if (within || !t) {
		scribe_heat_begin(h, at, within ? at + SCRIBE_HEAT_WIDTH_NS : end_ns + 1, bytes, w);
		return;
	}
	scribe_heat_begin(h, start_ns, end_ns, bytes, w);
	scribe_heat_put(t, h);
}

#endif
