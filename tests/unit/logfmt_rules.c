/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The update rules and the finish, against a plain reference: random operation
 * sequences go through the rules (several shards, locked and lock-free, value
 * tables) and, as a list, through a model that looks every counter up afresh.
 * The model is written from the documented semantics, not from the rules.
 * SCRIBE_SEED and SCRIBE_SEQUENCES change what is tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "logfmt/records/posix_finish.h"
#include "logfmt/rules/posix_rules.h"
#include "tests/harness/seed.h"

#define MAX_OPS 400
#define SHARDS  4
#define BASE_NS 1000000000ull

enum kind { K_READ, K_WRITE, K_META, K_OPEN };

/* One operation, as the reference keeps it. */
struct step {
	enum kind kind;
	int shard;
	int64_t offset;
	uint64_t bytes, start, end;
	int unaligned;
};

struct sequence {
	struct step step[MAX_OPS];
	int n;
	uint32_t align;
	int alone;            /* no other thread can be at the cursor */
	int lockfree[SHARDS]; /* this shard is changed by the lock-free path: four values, no table */
};

/* ---- random numbers ---- */
static uint64_t seed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

static uint64_t some_size(void)
{
	static const uint64_t edges[] = {0,        1,        100,       101,       1024,       1025,      10240,
					 10241,    102400,   102401,    1048576,   1048577,    4194304,   4194305,
					 10485760, 10485761, 104857600, 104857601, 1073741824, 1073741825};

	switch (below(4)) {
	case 0:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return below(60); /* many distinct small ones: fills tables */
	case 2:
		return 4096;
	default:
		return below(1u << 20);
	}
}

static int64_t some_offset(const struct sequence *s, int i, enum kind kind)
{
	for (int k = i - 1; k >= 0; k--) {
		const struct step *p = &s->step[k];

		if (p->kind != kind)
			continue;
		switch (below(5)) {
		case 0:
		case 1:
			return p->offset + (int64_t)p->bytes;
		case 2:
			return p->offset + (int64_t)p->bytes + (int64_t)below(80);
		case 3:
			return p->offset;
		default:
			return (int64_t)below(1u << 24);
		}
	}
	return below(2) ? 0 : (int64_t)below(5000);
}

static void make(struct sequence *s)
{
	static const uint32_t aligns[] = {0, 512, 4096, 1u << 20, 3000};
	uint64_t now = BASE_NS + 1 + below(1000);

	s->n = 1 + (int)below(below(20) ? 30 : MAX_OPS);
	s->align = aligns[below(5)];
	s->alone = below(2) == 0;
	for (int i = 0; i < SHARDS; i++)
		s->lockfree[i] = below(4) == 0;
	for (int i = 0; i < s->n; i++) {
		struct step *t = &s->step[i];
		uint64_t r = below(20);

		t->kind = r == 0 ? K_OPEN : r < 3 ? K_META : r < 12 ? K_READ : K_WRITE;
		t->shard = (int)(below(3) ? 0 : below(SHARDS));
		t->bytes = some_size();
		t->offset = some_offset(s, i, t->kind);
		t->unaligned = below(5) == 0;
		t->start = now;
		t->end = now + below(10000);
		/* mostly one after another, sometimes overlapping */
		now += below(3) ? t->end - t->start + below(500) : below(3000);
	}
}

/* ---- through the rules ---- */
struct through {
	struct scribe_cursor cursor;
	struct scribe_posix_shard shard[SHARDS];
	struct scribe_value_table access[SHARDS], stride[SHARDS];
};

static void one_data(struct through *t, const struct sequence *s, const struct step *st)
{
	struct scribe_data_op op = {
		.offset = st->offset,
		.bytes = st->bytes,
		.start_ns = st->start,
		.end_ns = st->end,
		.op = st->kind == K_WRITE ? SCRIBE_OP_WRITE : SCRIBE_OP_READ,
		.unaligned = (uint32_t)st->unaligned,
		.align = s->align,
	};
	struct scribe_posix_shard *shard = &t->shard[st->shard];
	int lockfree = s->lockfree[st->shard];
	struct scribe_op_class_result place;

	scribe_cursor_data(&t->cursor, &op, s->alone, &place);
	if (lockfree) {
		scribe_shard_data(shard, &op, &place, 1);
		scribe_top_count(shard->access, (int64_t)op.bytes, 1);
		scribe_top_count(shard->stride, place.stride, 1);
		return;
	}
	scribe_shard_data(shard, &op, &place, 0);
	if (scribe_top_count(shard->access, (int64_t)op.bytes, 0))
		scribe_table_count(&t->access[st->shard], (int64_t)op.bytes);
	if (scribe_top_count(shard->stride, place.stride, 0))
		scribe_table_count(&t->stride[st->shard], place.stride);
}

static void by_rules(const struct sequence *s, struct scribe_posix_record *ret)
{
	struct through t;
	struct scribe_posix_acc acc;

	memset(&t, 0, sizeof(t));
	for (int i = 0; i < s->n; i++) {
		const struct step *st = &s->step[i];
		uint32_t approx = 0;

		if (st->kind == K_OPEN)
			scribe_cursor_open(&t.cursor);
		if (st->kind == K_META || st->kind == K_OPEN)
			scribe_shard_busy(
				&t.shard[st->shard], SCRIBE_OP_META,
				scribe_busy_time(&t.cursor.last_end[SCRIBE_OP_META], st->start, st->end, &approx),
				s->lockfree[st->shard]);
		else
			one_data(&t, s, st);
	}
	scribe_posix_acc_init(&acc);
	for (int i = 0; i < SHARDS; i++)
		assert_int_equal(scribe_posix_acc_add(&acc, &t.shard[i], s->lockfree[i] ? NULL : &t.access[i],
						      s->lockfree[i] ? NULL : &t.stride[i]),
				 0);
	scribe_posix_acc_record(&acc, 7, 3, BASE_NS, 0644, s->align, 8, 0, ret);
	scribe_posix_acc_free(&acc);
}

/* ---- the reference: every counter looked up in the list ---- */

/* The data operation of the same kind before step i, since the last open; -1 none. */
static int previous(const struct sequence *s, int i)
{
	for (int k = i - 1; k >= 0 && s->step[k].kind != K_OPEN; k--) {
		if (s->step[k].kind == s->step[i].kind)
			return k;
	}
	return -1;
}

static int64_t last_byte(const struct sequence *s, int k)
{
	return k < 0 ? 0 : s->step[k].offset + (int64_t)s->step[k].bytes - 1;
}

static int64_t stride_of(const struct sequence *s, int i)
{
	int64_t last = last_byte(s, previous(s, i));

	return s->step[i].offset > last && last != 0 ? s->step[i].offset - last - 1 : 0;
}

static int bucket_of(uint64_t bytes)
{
	static const double upper[] = {100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824};
	int b = 0;

	while (b < 9 && (double)bytes > upper[b])
		b++;
	return b;
}

/* Distinct values, first come, at most `limit` a shard; then the four most common. */
static void common_of(const struct sequence *s, int strides, int64_t *values, int64_t *counts)
{
	static int64_t v[SHARDS][MAX_OPS], c[SHARDS][MAX_OPS], all[SHARDS * 32], allc[SHARDS * 32];
	int n[SHARDS] = {0}, total = 0;

	for (int i = 0; i < s->n; i++) {
		int p = s->step[i].shard, limit = s->lockfree[p] ? 4 : 32, k = 0;
		int64_t value;

		if (s->step[i].kind > K_WRITE)
			continue;
		value = strides ? stride_of(s, i) : (int64_t)s->step[i].bytes;
		if (value == 0)
			continue;
		while (k < n[p] && v[p][k] != value)
			k++;
		if (k == n[p] && n[p] == limit)
			continue;
		if (k == n[p]) {
			v[p][n[p]] = value;
			c[p][n[p]++] = 0;
		}
		c[p][k]++;
	}
	for (int p = 0; p < SHARDS; p++) {
		for (int i = 0; i < n[p]; i++) {
			int k = 0;

			while (k < total && all[k] != v[p][i])
				k++;
			if (k == total) {
				all[total] = v[p][i];
				allc[total++] = 0;
			}
			allc[k] += c[p][i];
		}
	}
	for (int place = 0; place < 4; place++) {
		int best = -1;

		for (int k = 0; k < total; k++) {
			if (allc[k] &&
			    (best < 0 || allc[k] > allc[best] || (allc[k] == allc[best] && all[k] > all[best])))
				best = k;
		}
		values[place] = best < 0 ? 0 : all[best];
		counts[place] = best < 0 ? 0 : allc[best];
		if (best >= 0)
			allc[best] = 0;
	}
}

/* Nanoseconds as the log has them: the nearest multiple of 2^-22 s, not 0 for what took time. */
static double on_grid(uint64_t ns)
{
	unsigned __int128 ticks = ((unsigned __int128)ns * 4194304 * 2 + 1000000000) / 2000000000;

	return (double)(ns && !ticks ? 1 : (uint64_t)ticks) / 4194304;
}

/* Time of a class: from the latest end so far, or from the start if that is later. */
static double busy_of(const struct sequence *s, int cls)
{
	uint64_t latest = 0, sum = 0;

	for (int i = 0; i < s->n; i++) {
		const struct step *t = &s->step[i];
		int mine = t->kind == K_READ ? 0 : t->kind == K_WRITE ? 1 : 2;

		if (mine != cls || t->end <= latest)
			continue;
		sum += t->start > latest ? t->end - t->start : t->end - latest;
		latest = t->end;
	}
	return on_grid(sum);
}

static int switches_of(const struct sequence *s)
{
	int last = -1, n = 0;

	for (int i = 0; i < s->n; i++) {
		if (s->step[i].kind > K_WRITE)
			continue;
		n += last >= 0 && last != (int)s->step[i].kind;
		last = s->step[i].kind;
	}
	return n;
}

/* Longest of a kind; the first of equals within a shard, the larger size between shards. */
static void longest_of(const struct sequence *s, enum kind kind, int64_t *size, double *seconds)
{
	uint64_t best = 0;
	int64_t best_size = 0;

	for (int p = 0; p < SHARDS; p++) {
		uint64_t ns = 0, bytes = 0;

		for (int i = 0; i < s->n; i++) {
			const struct step *t = &s->step[i];

			if (t->kind == kind && t->shard == p && t->end - t->start > ns) {
				ns = t->end - t->start;
				bytes = t->bytes;
			}
		}
		if (ns > best || (ns == best && (int64_t)bytes > best_size)) {
			best = ns;
			best_size = (int64_t)bytes;
		}
	}
	*size = best_size;
	*seconds = on_grid(best);
}

static void model_kind(const struct sequence *s, enum kind kind, struct scribe_posix_record *r)
{
	int w = kind == K_WRITE;
	int64_t *c = r->counters;
	uint64_t first = 0, latest = 0;

	for (int i = 0; i < s->n; i++) {
		const struct step *t = &s->step[i];
		int64_t last, end = t->offset + (int64_t)t->bytes - 1;

		if (t->kind != kind)
			continue;
		last = last_byte(s, previous(s, i));
		c[SCRIBE_POSIX_READS + w]++;
		c[SCRIBE_POSIX_BYTES_READ + w] += (int64_t)t->bytes;
		if (end > c[SCRIBE_POSIX_MAX_BYTE_READ + w])
			c[SCRIBE_POSIX_MAX_BYTE_READ + w] = end;
		c[SCRIBE_POSIX_SEQ_READS + w] += t->offset > last;
		c[SCRIBE_POSIX_CONSEC_READS + w] += t->offset - last == 1;
		c[SCRIBE_POSIX_MEM_NOT_ALIGNED] += t->unaligned;
		c[SCRIBE_POSIX_FILE_NOT_ALIGNED] += s->align != 0 && t->offset % s->align != 0;
		c[(w ? SCRIBE_POSIX_SIZE_WRITE_0_100 : SCRIBE_POSIX_SIZE_READ_0_100) + bucket_of(t->bytes)]++;
		if (first == 0 || t->start < first)
			first = t->start;
		if (t->end > latest)
			latest = t->end;
	}
	r->fcounters[SCRIBE_POSIX_F_READ_START_TIMESTAMP + w] = first ? on_grid(first - BASE_NS) : 0;
	r->fcounters[SCRIBE_POSIX_F_READ_END_TIMESTAMP + w] = latest ? on_grid(latest - BASE_NS) : 0;
	longest_of(s, kind, &c[SCRIBE_POSIX_MAX_READ_TIME_SIZE + w], &r->fcounters[SCRIBE_POSIX_F_MAX_READ_TIME + w]);
}

static void by_model(const struct sequence *s, struct scribe_posix_record *r)
{
	memset(r, 0, sizeof(*r));
	r->base.id = 7;
	r->base.rank = 3;
	r->counters[SCRIBE_POSIX_FILENOS] = -1;
	r->counters[SCRIBE_POSIX_MODE] = 0644;
	r->counters[SCRIBE_POSIX_FILE_ALIGNMENT] = s->align;
	r->counters[SCRIBE_POSIX_MEM_ALIGNMENT] = 8;
	r->counters[SCRIBE_POSIX_RW_SWITCHES] = switches_of(s);
	model_kind(s, K_READ, r);
	model_kind(s, K_WRITE, r);
	for (int cls = 0; cls < 3; cls++)
		r->fcounters[SCRIBE_POSIX_F_READ_TIME + cls] = busy_of(s, cls);
	common_of(s, 0, &r->counters[SCRIBE_POSIX_ACCESS1_ACCESS], &r->counters[SCRIBE_POSIX_ACCESS1_COUNT]);
	common_of(s, 1, &r->counters[SCRIBE_POSIX_STRIDE1_STRIDE], &r->counters[SCRIBE_POSIX_STRIDE1_COUNT]);
}

static const char *const names[] = {
#define SCRIBE_X(n, rule, text) #n,
	SCRIBE_POSIX_COUNTERS(SCRIBE_X) SCRIBE_POSIX_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
};

static void random_sequences(void **state)
{
	const char *n = getenv("SCRIBE_SEQUENCES");
	long sequences = n ? atol(n) : 100000;
	struct sequence *s = malloc(sizeof(*s));
	long beyond_four = 0, beyond_table = 0;

	assert_non_null(s);
	for (long q = 0; q < sequences; q++) {
		struct scribe_posix_record got, want;
		uint64_t was = seed;

		make(s);
		by_rules(s, &got);
		by_model(s, &want);
		for (int i = 0; i < SCRIBE_POSIX_COUNT; i++) {
			if (got.counters[i] != want.counters[i])
				fail_msg("sequence %ld (seed %llu, %d operations): %s is %lld, not %lld", q,
					 (unsigned long long)was, s->n, names[i], (long long)got.counters[i],
					 (long long)want.counters[i]);
		}
		for (int i = 0; i < SCRIBE_POSIX_F_COUNT; i++) {
			if (got.fcounters[i] != want.fcounters[i])
				fail_msg("sequence %ld (seed %llu): F_%s is %.12f, not %.12f", q,
					 (unsigned long long)was, names[SCRIBE_POSIX_COUNT + i], got.fcounters[i],
					 want.fcounters[i]);
		}
		assert_memory_equal(&got.base, &want.base, sizeof(got.base));
		beyond_four += s->n > 40;
		beyond_table += s->n > 300;
	}
	/* the generator must reach what it is there for */
	if (sequences >= 10000) {
		assert_true(beyond_four > sequences / 100);
		assert_true(beyond_table > sequences / 1000);
	}
	free(s);
}

static void a_full_table_drops(void **state)
{
	struct scribe_value top[SCRIBE_TOP_VALUES] = {{0, 0}};
	struct scribe_value_table t = {0};

	for (int round = 0; round < 2; round++) {
		for (int64_t v = 1; v <= 40; v++) {
			if (scribe_top_count(top, v, 0))
				scribe_table_count(&t, v);
		}
	}
	assert_int_equal(t.used, SCRIBE_TABLE_LIMIT);
	assert_int_equal(t.dropped, 2 * (40 - 4 - SCRIBE_TABLE_LIMIT));
	for (int i = 0; i < SCRIBE_TABLE_VALUES; i++) {
		if (t.v[i].value)
			assert_int_equal(t.v[i].count, 2);
	}
}

static void negative_strides_and_values(void **state)
{
	/* -1 as a value is like any other: only 0 means an empty place */
	struct scribe_value top[SCRIBE_TOP_VALUES] = {{0, 0}};

	assert_int_equal(scribe_top_count(top, -1, 0), 0);
	assert_int_equal(scribe_top_count(top, -1, 1), 0);
	assert_int_equal(scribe_top_count(top, 0, 0), 0);
	assert_int_equal(top[0].value, -1);
	assert_int_equal(top[0].count, 2);
	assert_int_equal(top[1].value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sequences),
		cmocka_unit_test(a_full_table_drops),
		cmocka_unit_test(negative_strides_and_values),
	};

	seed = scribe_test_seed(88172645463325252ull);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
