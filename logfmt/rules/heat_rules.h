/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time, as Darshan's heatmaps have them: 200 bins of 0.1 s that double in
 * width when an operation ends behind the last one. What an operation moved is spread
 * over its bins by time, in whole bytes: the sum of all bins is exact. A record holds
 * one bin, into which nearly every operation goes; a table of all bins is only needed
 * by a record that is used longer. Compiled into the kernel programs, the daemon, the
 * unit tests and any counting inside a process. Semantics: docs/counters.md.
 */
#ifndef LOGFMT_RULES_HEAT_RULES_H
#define LOGFMT_RULES_HEAT_RULES_H

#include "logfmt/rules/types.h"

#define SCRIBE_HEAT_BINS       200u
#define SCRIBE_HEAT_WIDTH_NS   100000000ull
#define SCRIBE_HEAT_ROUND      4u /* bins at a time */
#define SCRIBE_HEAT_SHIFT_MOST 30u /* 681 years */

struct scribe_heat_bin {
	scribe_u64 bytes[2]; /* READ, WRITE */
};

/* All bins of a record, a rank or a log. Zeroed but for base_ns: empty. */
struct scribe_heat_table {
	scribe_u64 base_ns; /* the first bin begins here, CLOCK_MONOTONIC */
	scribe_u32 shift;   /* bins are SCRIBE_HEAT_WIDTH_NS << shift wide */
	scribe_u32 by;    /* scratch */
	struct scribe_heat_bin bin[SCRIBE_HEAT_BINS];
};

/* The bin that a record is in. Whoever holds the record's shard changes it. */
struct scribe_heat {
	scribe_u64 from_ns;  /* its begin, 0: there is none */
	scribe_u64 to_ns;    /* behind it: 0.1 s later, or more where no table was to be had */
	scribe_u64 bytes[2]; /* in it: READ, WRITE */
	scribe_u32 table;    /* 1 + index of the table, 0: none */
	scribe_u32 lock;     /* of a shard that nobody holds: 1 while it is changed */
	scribe_u64 spill[2]; /* of such a shard: moved at some time while it was used */
};

/* Is all of it in the record's bin? */
SCRIBE_INLINE int scribe_heat_is_near(const struct scribe_heat *h, scribe_u64 start_ns, scribe_u64 end_ns)
{
	scribe_u64 from = h->from_ns;

	return end_ns - from < SCRIBE_HEAT_WIDTH_NS && start_ns - from < SCRIBE_HEAT_WIDTH_NS;
}

/* Begin of the bin of 0.1 s that a time is in. */
SCRIBE_INLINE scribe_u64 scribe_heat_floor(scribe_u64 base_ns, scribe_u64 ns)
{
	return ns <= base_ns ? base_ns : ns - (ns - base_ns) % SCRIBE_HEAT_WIDTH_NS;
}

/* The number, below SCRIBE_HEAT_BINS; verifiers before Linux 6.4 do not always know what a comparison has told. */
SCRIBE_INLINE scribe_u32 scribe_heat_at(scribe_u64 n)
{
	scribe_u32 at = (scribe_u32)n;

	__asm__ volatile("" : "+r"(at));
	return at < SCRIBE_HEAT_BINS ? at : SCRIBE_HEAT_BINS - 1;
}

/* SCRIBE_HEAT_ROUND bins from `first` on go to where they belong when all are 2^by times as wide. */
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

/* 1: `n` has a bit from `bit` on. Without a branch, each side of which a verifier would follow apart. */
SCRIBE_INLINE scribe_u64 scribe_heat_has(scribe_u64 n, scribe_u32 bit)
{
	const scribe_u64 high = n >> bit;

	return (high | (0 - high)) >> 63;
}

/* How many low bits of a time do not count, so that at most 31 are left, and 27 at least of a longer one. */
SCRIBE_INLINE scribe_u64 scribe_heat_cut(scribe_u64 ns)
{
	return 4 * (scribe_heat_has(ns, 31) + scribe_heat_has(ns, 35) + scribe_heat_has(ns, 39) +
		    scribe_heat_has(ns, 43) + scribe_heat_has(ns, 47) + scribe_heat_has(ns, 51) +
		    scribe_heat_has(ns, 55) + scribe_heat_has(ns, 59));
}

/* bytes * part / whole, rounded down; part <= whole < 2^32. */
SCRIBE_INLINE scribe_u64 scribe_heat_share(scribe_u64 bytes, scribe_u64 part, scribe_u64 whole)
{
	return bytes / whole * part + bytes % whole * part / whole;
}

/*
 * Up to SCRIBE_HEAT_ROUND bins get their share, by time, of what was moved from
 * h->from_ns to h->to_ns, which is that much less then. 0: nothing is left. What is before
 * the first bin counts there, and what is behind the last one in that.
 */
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
			const scribe_u64 share =
				scribe_heat_share(h->bytes[w], (edge - at) >> cut, (to - at) >> cut);

			bin->bytes[w] += share;
			h->bytes[w] -= share;
		}
		at = edge;
		h->from_ns = t->base_ns + at;
	}
	return 1;
}

/* In the kernel programs functions of their own, which are checked once (bpf/kern/heat.bpf.h). */
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

/* The table reaches to a time. */
SCRIBE_INLINE void scribe_heat_fit(struct scribe_heat_table *t, scribe_u64 to_ns)
{
	scribe_u64 last = to_ns > t->base_ns ? (to_ns - t->base_ns - 1) / SCRIBE_HEAT_WIDTH_NS : 0;
	scribe_u32 by = 0;

	last >>= t->shift & 31;
	if (last < SCRIBE_HEAT_BINS)
		return;
	while (by < SCRIBE_HEAT_SHIFT_MOST && (last >> by) >= SCRIBE_HEAT_BINS)
		by++;
	*(volatile scribe_u32 *)&t->by = by; /* else a verifier follows every value apart */
	by = *(volatile scribe_u32 *)&t->by;
	if (t->shift + by > SCRIBE_HEAT_SHIFT_MOST)
		return;
	for (scribe_u32 first = 0; first < SCRIBE_HEAT_BINS; first += SCRIBE_HEAT_ROUND)
		SCRIBE_HEAT_FOLD(t, first, by);
	t->shift += by;
}

/* What the record's bin holds goes into a table. */
SCRIBE_INLINE void scribe_heat_put(struct scribe_heat_table *t, struct scribe_heat *h)
{
	SCRIBE_HEAT_FIT(t, h->to_ns);
	for (scribe_u32 n = 0; n < SCRIBE_HEAT_BINS / SCRIBE_HEAT_ROUND; n++)
		if (!SCRIBE_HEAT_SOME(t, h))
			return;
}

/* The record's bin is empty, and begins again with one operation. */
SCRIBE_INLINE void scribe_heat_begin(struct scribe_heat *h, scribe_u64 from_ns, scribe_u64 to_ns, scribe_u64 bytes,
				     scribe_u32 w)
{
	h->from_ns = from_ns;
	h->to_ns = to_ns;
	h->bytes[0] = w & 1 ? 0 : bytes;
	h->bytes[1] = w & 1 ? bytes : 0;
}

/* Does an operation that is not near need a table? */
SCRIBE_INLINE int scribe_heat_wants_table(const struct scribe_heat *h, scribe_u64 base_ns, scribe_u64 start_ns,
					  scribe_u64 end_ns)
{
	return h->from_ns || end_ns - scribe_heat_floor(base_ns, start_ns) >= SCRIBE_HEAT_WIDTH_NS;
}

/*
 * A read (0) or write (1) of some bytes that is not near. `t` NULL: no table is wanted,
 * or none is to be had; the record's bin becomes as wide as it takes.
 */
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
