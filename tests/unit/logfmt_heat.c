/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time by given clocks, against a model written from docs/counters.md: every
 * operation is kept, and each bin is what the operations' shares of its time come to.
 * Runs of 0.1, 30 and 200 s and of a day, operations of nanoseconds to hours, with a
 * table and without one. SCRIBE_SEED changes what is tried.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "logfmt/rules/heat_rules.h"

#define BASE_NS 5000000000ull
#define OPS     3000
#define SECOND  1000000000ull

struct op {
	uint64_t start, end, bytes;
	unsigned w;
};

static uint64_t seed = 0x1234567;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* As the kernel does it: the bin of the record, and a table where one is wanted. */
static void count(struct scribe_heat *h, struct scribe_heat_table *t, const struct op *o)
{
	if (!o->bytes)
		return;
	if (scribe_heat_is_near(h, o->start, o->end)) {
		h->bytes[o->w] += o->bytes;
		return;
	}
	if (t && !h->table && scribe_heat_wants_table(h, BASE_NS, o->start, o->end))
		h->table = 1;
	scribe_heat_move(h, h->table ? t : NULL, BASE_NS, o->start, o->end, o->bytes, o->w);
}

static void sum_up(const struct scribe_heat_table *t, uint64_t ret_sum[2])
{
	ret_sum[0] = ret_sum[1] = 0;
	for (unsigned i = 0; i < SCRIBE_HEAT_BINS; i++) {
		ret_sum[0] += t->bin[i].bytes[0];
		ret_sum[1] += t->bin[i].bytes[1];
	}
}

/* The part of an operation's time that lies in [from, to). */
static double part_of(const struct op *o, double from, double to)
{
	const double start = (double)(o->start - BASE_NS), end = (double)(o->end - BASE_NS);

	if (end <= start)
		return start >= from && start < to ? 1 : 0;
	return fmax(0, fmin(end, to) - fmax(start, from)) / (end - start);
}

/* `ops` in a run of `run` ns, of which each takes up to `longest`. */
static void tried(uint64_t run, uint64_t longest, unsigned ops)
{
	static struct op op[OPS];
	struct scribe_heat_table t = {.base_ns = BASE_NS};
	struct scribe_heat h = {0};
	uint64_t sum[2] = {0}, have[2], last = BASE_NS;
	double width;

	for (unsigned i = 0; i < ops; i++) {
		op[i].start = BASE_NS + run * i / ops;
		op[i].end = op[i].start + rnd() % (longest + 1);
		if (op[i].end > BASE_NS + run)
			op[i].end = BASE_NS + run;
		op[i].bytes = rnd() % 7 ? rnd() >> (rnd() % 40 + 20) : 0;
		op[i].w = rnd() & 1;
		sum[op[i].w] += op[i].bytes;
		last = op[i].bytes && op[i].end > last ? op[i].end : last;
		count(&h, &t, &op[i]);
	}
	if (h.from_ns)
		scribe_heat_put(&t, &h);
	sum_up(&t, have);
	assert_int_equal(have[0], sum[0]);
	assert_int_equal(have[1], sum[1]);
	width = 1e8 * (double)(1ull << t.shift);
	/* doubled no more often than had to be */
	assert_true(width * SCRIBE_HEAT_BINS >= (double)(last - BASE_NS));
	assert_true(!t.shift || width / 2 * SCRIBE_HEAT_BINS < (double)(run + SCRIBE_HEAT_WIDTH_NS));
	for (unsigned b = 0; b < SCRIBE_HEAT_BINS; b++)
		for (unsigned w = 0; w < 2; w++) {
			double want = 0, got = (double)t.bin[b].bytes[w], touched = 0;

			for (unsigned i = 0; i < ops; i++) {
				const double part = op[i].w == w ? part_of(&op[i], b * width, (b + 1) * width) : 0;

				want += part * (double)op[i].bytes;
				touched += part > 0;
			}
			/* a byte in each bin that has become a part of this one */
			assert_true(fabs(got - want) <= (double)(2u << t.shift) * touched + want * 1e-5);
		}
}

static void runs_of_any_length(void **state)
{
	static const uint64_t runs[] = {SECOND / 10, 3 * SECOND, 30 * SECOND, 200 * SECOND, 86400 * SECOND};
	static const uint64_t longest[] = {0, 1000, SECOND / 20, SECOND, 25 * SECOND, 4000 * SECOND};

	for (unsigned r = 0; r < sizeof(runs) / sizeof(runs[0]); r++)
		for (unsigned l = 0; l < sizeof(longest) / sizeof(longest[0]); l++)
			for (unsigned ops = 1; ops <= OPS; ops *= 14)
				tried(runs[r], longest[l], ops);
}

/* Operations that begin and end on the edges of bins. */
static void edges(void **state)
{
	struct scribe_heat_table t = {.base_ns = BASE_NS};
	struct scribe_heat h = {0};
	const struct op op[] = {
		{BASE_NS, BASE_NS + SCRIBE_HEAT_WIDTH_NS - 1, 10, 0},                         /* the whole first bin */
		{BASE_NS + SCRIBE_HEAT_WIDTH_NS, BASE_NS + SCRIBE_HEAT_WIDTH_NS, 20, 0},      /* no time, at an edge */
		{BASE_NS + SCRIBE_HEAT_WIDTH_NS, BASE_NS + 3 * SCRIBE_HEAT_WIDTH_NS, 100, 1}, /* two bins */
		{BASE_NS - 50, BASE_NS - 20, 7, 1},                                           /* before the first bin */
	};

	for (unsigned i = 0; i < sizeof(op) / sizeof(op[0]); i++)
		count(&h, &t, &op[i]);
	scribe_heat_put(&t, &h);
	assert_int_equal(t.bin[0].bytes[0], 10);
	assert_int_equal(t.bin[1].bytes[0], 20);
	assert_int_equal(t.bin[1].bytes[1], 50);
	assert_int_equal(t.bin[2].bytes[1], 50);
	assert_int_equal(t.bin[0].bytes[1], 7);
	assert_int_equal(t.bin[3].bytes[0] + t.bin[3].bytes[1], 0);
	assert_int_equal(t.shift, 0);
}

/* Widths double pairwise: what was in bins 2i and 2i+1 is in bin i. */
static void doubling(void **state)
{
	struct scribe_heat_table t = {.base_ns = BASE_NS};

	for (unsigned i = 0; i < SCRIBE_HEAT_BINS; i++) {
		t.bin[i].bytes[0] = i + 1;
		t.bin[i].bytes[1] = 1000 * i;
	}
	scribe_heat_fit(&t, BASE_NS + 20 * SECOND);
	assert_int_equal(t.shift, 0);
	scribe_heat_fit(&t, BASE_NS + 20 * SECOND + 1);
	assert_int_equal(t.shift, 1);
	for (unsigned i = 0; i < SCRIBE_HEAT_BINS / 2; i++) {
		assert_int_equal(t.bin[i].bytes[0], 4 * i + 3);
		assert_int_equal(t.bin[i].bytes[1], 1000 * (4 * i + 1));
		assert_int_equal(t.bin[100 + i].bytes[0] + t.bin[100 + i].bytes[1], 0);
	}
	scribe_heat_fit(&t, BASE_NS + 100 * SECOND); /* by eight at once */
	assert_int_equal(t.shift, 3);
	assert_int_equal(t.bin[0].bytes[0], 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
}

/* No table is to be had: the bin becomes wide, and no byte is lost. */
static void without_a_table(void **state)
{
	struct scribe_heat h = {0};
	uint64_t sum[2] = {0};

	for (unsigned i = 0; i < 1000; i++) {
		const struct op o = {.start = BASE_NS + i * SECOND / 7, .bytes = rnd() % 5000, .w = i & 1};
		struct op n = o;

		n.end = o.start + rnd() % SECOND;
		sum[n.w] += n.bytes;
		count(&h, NULL, &n);
	}
	assert_int_equal(h.bytes[0], sum[0]);
	assert_int_equal(h.bytes[1], sum[1]);
	assert_true(h.from_ns < BASE_NS + 2 * SECOND);
	assert_true(h.to_ns > BASE_NS + 999 * SECOND / 7);
}

/* What a program says that is no time at all harms nothing. */
static void nonsense(void **state)
{
	for (unsigned i = 0; i < 20000; i++) {
		struct scribe_heat_table t = {.base_ns = rnd() >> rnd() % 64, .shift = (uint32_t)rnd() % 40};
		struct scribe_heat h = {
			.from_ns = rnd() >> rnd() % 64, .to_ns = rnd() >> rnd() % 64, .bytes = {rnd(), rnd()}};
		uint64_t sum[2], want[2] = {h.bytes[0], h.bytes[1]};

		scribe_heat_put(&t, &h);
		sum_up(&t, sum);
		assert_int_equal(sum[0] + h.bytes[0], want[0]);
		assert_int_equal(sum[1] + h.bytes[1], want[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_any_length), cmocka_unit_test(edges),    cmocka_unit_test(doubling),
		cmocka_unit_test(without_a_table),    cmocka_unit_test(nonsense),
	};

	if (getenv("SCRIBE_SEED"))
		seed = strtoull(getenv("SCRIBE_SEED"), NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
