/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: any split and any order gives what the whole gives, for every
 * module that is reduced, and the whole is what a plain model says.
 */
#include "logfmt_support.h"

#include <math.h>

#include "logfmt/reduce.h"

#define RANKS_MAX 12
#define POOL 14 /* distinct values: fewer than an element holds, so that all is exact */

static bool close_to(double a, double b)
{
	double scale = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

	return a == b || fabs(a - b) <= scale * 1e-9 + 1e-12;
}

static void assert_same_record(const struct scribe_module *m, const void *a, const void *b, const char *what)
{
	size_t len = scribe_record_length(m->id, a, RECORD_ROOM);
	size_t end = m->fcounters_at + (size_t)m->nfcounters * 8;

	assert_memory_equal(a, b, m->counters_at);
	for (int i = 0; i < m->ncounters; i++) {
		int64_t x = scribe_record_counters(m, a)[i], y = scribe_record_counters(m, b)[i];

		if (x != y)
			fail_msg("%s: %s: %lld and %lld", what, m->counters[i].name, (long long)x, (long long)y);
	}
	for (int i = 0; i < m->nfcounters; i++) {
		double x = scribe_record_fcounters(m, a)[i], y = scribe_record_fcounters(m, b)[i];

		if (!close_to(x, y))
			fail_msg("%s: %s: %.15g and %.15g", what, m->fcounters[i].name, x, y);
	}
	assert_memory_equal((const char *)a + end, (const char *)b + end, len - end);
}

/* Elements joined pairwise at random until one is left, in elems[0]. */
static void join_at_random(int module, char **elems, int n)
{
	while (n > 1) {
		int a = (int)below((uint64_t)n), b = (int)below((uint64_t)n - 1);
		char *gone;

		b += b >= a;
		assert_int_equal(scribe_redux_join(module, elems[a], elems[b]), 0);
		gone = elems[b];
		elems[b] = elems[--n];
		elems[n] = gone;
	}
}

static void any_split_is_the_whole(void **state)
{
	static uint64_t rec[RANKS_MAX][4096], one[4096], other[4096];
	int modules = 0;

	for (int id = 0; id < ALL_MODULES; id++) {
		const struct scribe_module *m = scribe_module_by_id(id);
		size_t bytes = scribe_redux_bytes(id);
		char *whole[RANKS_MAX], *split[RANKS_MAX];

		if (bytes == 0)
			continue;
		modules++;
		assert_int_equal(bytes % 8, 0);
		for (int i = 0; i < RANKS_MAX; i++) {
			whole[i] = malloc(bytes);
			split[i] = malloc(bytes);
		}
		for (int round = 0; round < 300; round++) {
			int ranks = 1 + (int)below(RANKS_MAX);

			for (int i = 0; i < ranks; i++) {
				some_record(m, i, POOL, rec[i]);
				rec[i][0] = 99;
				assert_int_equal(scribe_redux_begin(id, rec[i], whole[i]), 0);
				assert_int_equal(scribe_redux_begin(id, rec[i], split[i]), 0);
			}
			for (int i = 1; i < ranks; i++)
				assert_int_equal(scribe_redux_join(id, whole[0], whole[i]), 0);
			join_at_random(id, split, ranks);
			assert_int_equal(scribe_redux_end(id, whole[0], one), 0);
			/* the survivor of the random order stands anywhere among the first */
			assert_int_equal(scribe_redux_end(id, split[0], other), 0);
			assert_same_record(m, one, other, m->name);
			assert_int_equal((int64_t)one[1], -1);
		}
		for (int i = 0; i < RANKS_MAX; i++) {
			free(whole[i]);
			free(split[i]);
		}
	}
	assert_true(modules >= 13);
}

/* POSIX against sums, extremes and two-pass variances written out. */
struct model {
	double time[RANKS_MAX], bytes[RANKS_MAX];
};

static double variance_of(const double *x, int n)
{
	double mean = 0, s = 0;

	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	for (int i = 0; i < n; i++)
		s += (x[i] - mean) * (x[i] - mean);
	return s / n;
}

static int best_of(const double *x, int n, int least)
{
	int best = 0;

	for (int i = 1; i < n; i++) {
		if (least ? x[i] < x[best] : x[i] > x[best])
			best = i;
	}
	return best;
}

static void check_common(const struct scribe_posix_record *in, int n, const struct scribe_posix_record *out, int at,
			 int count_at)
{
	int64_t value[RANKS_MAX * 4], count[RANKS_MAX * 4];
	int used = 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 4; k++) {
			int p = 0;

			if (in[i].counters[count_at + k] == 0)
				continue;
			while (p < used && value[p] != in[i].counters[at + k])
				p++;
			if (p == used) {
				value[used] = in[i].counters[at + k];
				count[used++] = 0;
			}
			count[p] += in[i].counters[count_at + k];
		}
	}
	for (int place = 0; place < 4; place++) {
		int best = -1;

		for (int p = 0; p < used; p++) {
			if (count[p] && (best < 0 || count[p] > count[best] ||
					 (count[p] == count[best] && value[p] > value[best])))
				best = p;
		}
		assert_int_equal(out->counters[at + place], best < 0 ? 0 : value[best]);
		assert_int_equal(out->counters[count_at + place], best < 0 ? 0 : count[best]);
		if (best >= 0)
			count[best] = 0;
	}
}

static void check_posix(const struct scribe_posix_record *in, int n, const struct scribe_posix_record *out)
{
	struct model m;
	int64_t sum = 0, opens = 0, top = 0, mode = 0;
	double start = 0, longest = -1, total = 0;
	int64_t longest_size = 0;

	for (int i = 0; i < n; i++) {
		const int64_t *c = in[i].counters;
		const double *f = in[i].fcounters;

		m.time[i] = f[SCRIBE_POSIX_F_READ_TIME] + f[SCRIBE_POSIX_F_WRITE_TIME] + f[SCRIBE_POSIX_F_META_TIME];
		m.bytes[i] = (double)(c[SCRIBE_POSIX_BYTES_READ] + c[SCRIBE_POSIX_BYTES_WRITTEN]);
		sum += c[SCRIBE_POSIX_BYTES_WRITTEN];
		opens = opens < 0 || c[SCRIBE_POSIX_OPENS] < 0 ? -1 : opens + c[SCRIBE_POSIX_OPENS];
		top = c[SCRIBE_POSIX_MAX_BYTE_READ] > top ? c[SCRIBE_POSIX_MAX_BYTE_READ] : top;
		mode = mode ? mode : c[SCRIBE_POSIX_MODE];
		total += f[SCRIBE_POSIX_F_META_TIME];
		if (f[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] > 0 &&
		    (start == 0 || f[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] < start))
			start = f[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP];
		if (f[SCRIBE_POSIX_F_MAX_WRITE_TIME] > longest) {
			longest = f[SCRIBE_POSIX_F_MAX_WRITE_TIME];
			longest_size = c[SCRIBE_POSIX_MAX_WRITE_TIME_SIZE];
		}
	}
	assert_int_equal(out->counters[SCRIBE_POSIX_BYTES_WRITTEN], sum);
	assert_int_equal(out->counters[SCRIBE_POSIX_OPENS], opens);
	assert_int_equal(out->counters[SCRIBE_POSIX_MAX_BYTE_READ], top);
	assert_int_equal(out->counters[SCRIBE_POSIX_MODE], mode);
	assert_true(close_to(out->fcounters[SCRIBE_POSIX_F_META_TIME], total));
	assert_true(out->fcounters[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] == start);
	assert_true(out->fcounters[SCRIBE_POSIX_F_MAX_WRITE_TIME] == longest);
	if (longest > 0)
		assert_int_equal(out->counters[SCRIBE_POSIX_MAX_WRITE_TIME_SIZE], longest_size);
	assert_int_equal(out->counters[SCRIBE_POSIX_FASTEST_RANK], best_of(m.time, n, 1));
	assert_int_equal(out->counters[SCRIBE_POSIX_SLOWEST_RANK], best_of(m.time, n, 0));
	assert_true(out->fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] == m.time[best_of(m.time, n, 0)]);
	assert_true((double)out->counters[SCRIBE_POSIX_FASTEST_RANK_BYTES] == m.bytes[best_of(m.time, n, 1)]);
	assert_true(close_to(out->fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_TIME], variance_of(m.time, n)));
	assert_true(close_to(out->fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_BYTES], variance_of(m.bytes, n)));
	check_common(in, n, out, SCRIBE_POSIX_ACCESS1_ACCESS, SCRIBE_POSIX_ACCESS1_COUNT);
	check_common(in, n, out, SCRIBE_POSIX_STRIDE1_STRIDE, SCRIBE_POSIX_STRIDE1_COUNT);
}

static void posix_is_what_a_model_says(void **state)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_POSIX);
	size_t bytes = scribe_redux_bytes(SCRIBE_MOD_POSIX);
	char *a = malloc(bytes), *b = malloc(bytes);
	struct scribe_posix_record in[RANKS_MAX], out;

	for (int round = 0; round < 2000; round++) {
		int n = 1 + (int)below(RANKS_MAX);

		for (int i = 0; i < n; i++) {
			some_record(m, i, POOL, &in[i]);
			scribe_redux_begin(m->id, &in[i], i ? b : a);
			if (i)
				scribe_redux_join(m->id, a, b);
		}
		scribe_redux_end(m->id, a, &out);
		check_posix(in, n, &out);
	}
	free(a);
	free(b);
}

static void merging_in_one_rank(void **state)
{
	static uint64_t rec[4][512], left[512], right[512], tail[512];

	for (int id = 0; id < ALL_MODULES; id++) {
		const struct scribe_module *m = scribe_module_by_id(id);

		if (!m || !m->reduces || !m->record_bytes)
			continue;
		for (int round = 0; round < 200; round++) {
			for (int i = 0; i < 4; i++) {
				some_record(m, 3, 4, rec[i]); /* four distinct values: all kept */
				rec[i][0] = 7;
			}
			scribe_record_clear(id, left);
			left[0] = 7;
			left[1] = 3;
			for (int i = 0; i < 4; i++)
				assert_int_equal(scribe_record_merge(id, left, rec[i]), 0);
			memcpy(right, rec[0], m->record_bytes);
			memcpy(tail, rec[2], m->record_bytes);
			scribe_record_merge(id, right, rec[1]);
			scribe_record_merge(id, tail, rec[3]);
			scribe_record_merge(id, right, tail);
			/* bytes that are no counters are the first record's: the cleared one has none */
			if (m->id == SCRIBE_MOD_H5D || m->id == SCRIBE_MOD_PNETCDF_VAR)
				left[2] = right[2];
			assert_same_record(m, right, left, m->name);
			assert_int_equal((int64_t)left[1], 3);
		}
	}
}

static void shared_by_hand(void **state)
{
	struct scribe_posix_record r[2], out;
	size_t bytes = scribe_redux_bytes(SCRIBE_MOD_POSIX);
	char *a = malloc(bytes), *b = malloc(bytes);

	memset(r, 0, sizeof(r));
	for (int i = 0; i < 2; i++) {
		r[i].base = (struct scribe_base_record){11, i};
		r[i].counters[SCRIBE_POSIX_FILENOS] = -1;
		r[i].counters[SCRIBE_POSIX_BYTES_READ] = 100 * (i + 1);
		r[i].fcounters[SCRIBE_POSIX_F_READ_TIME] = 3 - i;
	}
	scribe_redux_begin(SCRIBE_MOD_POSIX, &r[0], a);
	scribe_redux_begin(SCRIBE_MOD_POSIX, &r[1], b);
	scribe_redux_join(SCRIBE_MOD_POSIX, b, a);
	scribe_redux_end(SCRIBE_MOD_POSIX, b, &out);
	assert_int_equal(out.base.rank, -1);
	assert_int_equal(out.counters[SCRIBE_POSIX_FILENOS], -1);
	assert_int_equal(out.counters[SCRIBE_POSIX_BYTES_READ], 300);
	assert_int_equal(out.counters[SCRIBE_POSIX_FASTEST_RANK], 1);
	assert_int_equal(out.counters[SCRIBE_POSIX_FASTEST_RANK_BYTES], 200);
	assert_int_equal(out.counters[SCRIBE_POSIX_SLOWEST_RANK], 0);
	assert_true(out.fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] == 3);
	assert_true(out.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_TIME] == 0.25);
	assert_true(out.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_BYTES] == 2500);
	free(a);
	free(b);
}

static void not_reduced(void **state)
{
	static const int ids[] = {SCRIBE_MOD_DXT_POSIX, SCRIBE_MOD_DXT_MPIIO, SCRIBE_MOD_HEATMAP,
				  SCRIBE_MOD_LUSTRE,    SCRIBE_MOD_PROCESS,   SCRIBE_MOD_LEDGER,  SCRIBE_MOD_APXC,
				  30,                   -1,                   64};
	uint64_t rec[64] = {0}, elem[64];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_int_equal(scribe_redux_bytes(ids[i]), 0);
		assert_int_equal(scribe_redux_begin(ids[i], rec, elem), -SCRIBE_E_UNSUPPORTED);
		assert_int_equal(scribe_redux_join(ids[i], elem, elem), -SCRIBE_E_UNSUPPORTED);
		assert_int_equal(scribe_redux_end(ids[i], elem, rec), -SCRIBE_E_UNSUPPORTED);
	}
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_PROCESS, rec, rec), -SCRIBE_E_UNSUPPORTED);
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_HEATMAP, rec, rec), -SCRIBE_E_UNSUPPORTED);
	assert_int_equal(scribe_record_clear(SCRIBE_MOD_LUSTRE, rec), -SCRIBE_E_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_split_is_the_whole), cmocka_unit_test(posix_is_what_a_model_says),
		cmocka_unit_test(merging_in_one_rank),    cmocka_unit_test(shared_by_hand),
		cmocka_unit_test(not_reduced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
