/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: any split and any order gives what the whole gives, for every
 * module that is reduced, and the whole is what a plain model says.
 */
#include "logfmt_support.h"

#include <math.h>

#include "logfmt/records/reduce.h"

#define RANKS_MAX 12
#define POOL      14 /* distinct values: fewer than an element holds, so that all is exact */

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
		assert_int_equal(scribe_reduction_join(module, elems[a], elems[b]), 0);
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
		size_t bytes = scribe_reduction_bytes(id);
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
				assert_int_equal(scribe_reduction_begin(id, rec[i], whole[i]), 0);
				assert_int_equal(scribe_reduction_begin(id, rec[i], split[i]), 0);
			}
			for (int i = 1; i < ranks; i++)
				assert_int_equal(scribe_reduction_join(id, whole[0], whole[i]), 0);
			join_at_random(id, split, ranks);
			assert_int_equal(scribe_reduction_end(id, whole[0], one), 0);
			/* the survivor of the random order stands anywhere among the first */
			assert_int_equal(scribe_reduction_end(id, split[0], other), 0);
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
			if (count[p] &&
			    (best < 0 || count[p] > count[best] || (count[p] == count[best] && value[p] > value[best])))
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
	size_t bytes = scribe_reduction_bytes(SCRIBE_MOD_POSIX);
	char *a = malloc(bytes), *b = malloc(bytes);
	struct scribe_posix_record in[RANKS_MAX], out;

	for (int round = 0; round < 2000; round++) {
		int n = 1 + (int)below(RANKS_MAX);

		for (int i = 0; i < n; i++) {
			some_record(m, i, POOL, &in[i]);
			scribe_reduction_begin(m->id, &in[i], i ? b : a);
			if (i)
				scribe_reduction_join(m->id, a, b);
		}
		scribe_reduction_end(m->id, a, &out);
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
	size_t bytes = scribe_reduction_bytes(SCRIBE_MOD_POSIX);
	char *a = malloc(bytes), *b = malloc(bytes);

	memset(r, 0, sizeof(r));
	for (int i = 0; i < 2; i++) {
		r[i].base = (struct scribe_base_record){11, i};
		r[i].counters[SCRIBE_POSIX_FILENOS] = -1;
		r[i].counters[SCRIBE_POSIX_BYTES_READ] = 100 * (i + 1);
		r[i].fcounters[SCRIBE_POSIX_F_READ_TIME] = 3 - i;
	}
	scribe_reduction_begin(SCRIBE_MOD_POSIX, &r[0], a);
	scribe_reduction_begin(SCRIBE_MOD_POSIX, &r[1], b);
	scribe_reduction_join(SCRIBE_MOD_POSIX, b, a);
	scribe_reduction_end(SCRIBE_MOD_POSIX, b, &out);
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
	static const int ids[] = {SCRIBE_MOD_DXT_POSIX,
				  SCRIBE_MOD_DXT_MPIIO,
				  SCRIBE_MOD_HEATMAP,
				  SCRIBE_MOD_LUSTRE,
				  SCRIBE_MOD_PROCESS,
				  SCRIBE_MOD_LEDGER,
				  SCRIBE_MOD_MOUNTS,
				  SCRIBE_MOD_APXC,
				  30,
				  -1,
				  64};
	uint64_t rec[64] = {0}, elem[64];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		double variances[2];

		assert_int_equal(scribe_reduction_bytes(ids[i]), 0);
		assert_int_equal(scribe_reduction_record_bytes(ids[i]), 0);
		assert_int_equal(scribe_reduction_variances(ids[i], elem, variances), -SCRIBE_E_UNSUPPORTED);
		assert_int_equal(scribe_reduction_begin(ids[i], rec, elem), -SCRIBE_E_UNSUPPORTED);
		assert_int_equal(scribe_reduction_join(ids[i], elem, elem), -SCRIBE_E_UNSUPPORTED);
		assert_int_equal(scribe_reduction_end(ids[i], elem, rec), -SCRIBE_E_UNSUPPORTED);
	}
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_PROCESS, rec, rec), -SCRIBE_E_UNSUPPORTED);
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_HEATMAP, rec, rec), -SCRIBE_E_UNSUPPORTED);
	assert_int_equal(scribe_record_clear(SCRIBE_MOD_LUSTRE, rec), -SCRIBE_E_UNSUPPORTED);
}

/* Longer than an element's record, or the module's head. */
static void records_that_do_not_fit(void **state)
{
	static uint64_t rec[4096];
	struct scribe_mdhim_record *mdhim = (void *)rec;
	struct scribe_apmpi_header_record *head = (void *)rec;
	char *elem = malloc(scribe_reduction_bytes(SCRIBE_MOD_MDHIM) + scribe_reduction_bytes(SCRIBE_MOD_APMPI));

	(void)state;
	mdhim->counters[SCRIBE_MDHIM_SERVERS] = SCRIBE_REDUCTION_MDHIM_SERVERS;
	assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_MDHIM, rec, elem), 0);
	mdhim->counters[SCRIBE_MDHIM_SERVERS]++;
	assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_MDHIM, rec, elem), -SCRIBE_E_LIMIT);
	memset(rec, 0, sizeof(rec));
	head->magic = SCRIBE_APMPI_MAGIC;
	assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_APMPI, rec, elem), -SCRIBE_E_UNSUPPORTED);
	free(elem);
}

/* AutoPerf's MPI records: the variances of their last two figures, time in MPI and in synchronisation. */
static void autoperf_has_variances_too(void **state)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_APMPI);
	size_t bytes = scribe_reduction_bytes(SCRIBE_MOD_APMPI);
	char *a = malloc(bytes), *b = malloc(bytes);
	static uint64_t rec[4096];
	double *f = (double *)((char *)rec + m->fcounters_at), x[RANKS_MAX], y[RANKS_MAX], got[2];

	(void)state;
	for (int round = 0; round < 50; round++) {
		int n = 2 + (int)below(RANKS_MAX - 1);

		for (int i = 0; i < n; i++) {
			some_record(m, i, POOL, rec);
			x[i] = f[m->nfcounters - 2] = (double)below(100000) / 64;
			y[i] = f[m->nfcounters - 1] = (double)below(100000) / 64;
			assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_APMPI, rec, i ? b : a), 0);
			if (i)
				assert_int_equal(scribe_reduction_join(SCRIBE_MOD_APMPI, a, b), 0);
		}
		assert_int_equal(scribe_reduction_variances(SCRIBE_MOD_APMPI, a, got), 0);
		assert_true(close_to(got[0], variance_of(x, n)));
		assert_true(close_to(got[1], variance_of(y, n)));
	}
	free(a);
	free(b);
}

/* More values than an element has room for: the commonest are right, and nothing else is written over. */
static void full_tables(void **state)
{
	size_t bytes = scribe_reduction_bytes(SCRIBE_MOD_POSIX);
	char *a = malloc(bytes), *b = malloc(bytes);
	struct scribe_posix_record in, out;

	(void)state;
	for (int i = 0; i < RANKS_MAX; i++) {
		memset(&in, 0, sizeof(in));
		in.base.rank = i;
		for (int k = 0; k < 4; k++) {
			in.counters[SCRIBE_POSIX_ACCESS1_ACCESS + k] = 10 * i + k + 1;
			in.counters[SCRIBE_POSIX_ACCESS1_COUNT + k] = i == 3 ? 1000 - k : 9 - k;
			in.counters[SCRIBE_POSIX_STRIDE1_STRIDE + k] = 1000 * i + k + 1;
			in.counters[SCRIBE_POSIX_STRIDE1_COUNT + k] = i == 7 ? 500 - k : 9 - k;
		}
		assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_POSIX, &in, i ? b : a), 0);
		if (i)
			assert_int_equal(scribe_reduction_join(SCRIBE_MOD_POSIX, a, b), 0);
	}
	/* a full one joined to an empty one */
	memset(&in, 0, sizeof(in));
	assert_int_equal(scribe_reduction_begin(SCRIBE_MOD_POSIX, &in, b), 0);
	assert_int_equal(scribe_reduction_join(SCRIBE_MOD_POSIX, b, a), 0);
	assert_int_equal(scribe_reduction_end(SCRIBE_MOD_POSIX, b, &out), 0);
	for (int k = 0; k < 4; k++) {
		assert_int_equal(out.counters[SCRIBE_POSIX_ACCESS1_ACCESS + k], 31 + k);
		assert_int_equal(out.counters[SCRIBE_POSIX_ACCESS1_COUNT + k], 1000 - k);
		assert_int_equal(out.counters[SCRIBE_POSIX_STRIDE1_STRIDE + k], 7001 + k);
		assert_int_equal(out.counters[SCRIBE_POSIX_STRIDE1_COUNT + k], 500 - k);
	}
	free(a);
	free(b);
}

/* What two elements of one rank tell differently is the first's, whichever is joined to whichever. */
static void a_tie_is_the_first_ones(void **state)
{
	static const int ids[] = {SCRIBE_MOD_POSIX, SCRIBE_MOD_MPIIO, SCRIBE_MOD_STDIO, SCRIBE_MOD_H5D};
	static uint64_t a[4096], b[4096], got[4096];

	(void)state;
	for (size_t k = 0; k < sizeof(ids) / sizeof(ids[0]); k++) {
		const struct scribe_module *m = scribe_module_by_id(ids[k]);
		char *ea = malloc(scribe_reduction_bytes(ids[k])), *eb = malloc(scribe_reduction_bytes(ids[k]));
		size_t base = sizeof(struct scribe_base_record);

		some_record(m, 3, POOL, a);
		some_record(m, 3, POOL, b);
		a[0] = b[0] = 99;
		memset((char *)a + base, 0x11, m->counters_at - base);
		memset((char *)b + base, 0x22, m->counters_at - base);
		for (int i = 0; i < m->ncounters; i++)
			if (m->counters[i].rule == SCRIBE_RULE_KEEP) {
				((int64_t *)((char *)a + m->counters_at))[i] = 5;
				((int64_t *)((char *)b + m->counters_at))[i] = 6;
			}
		assert_int_equal(scribe_reduction_begin(ids[k], a, ea), 0);
		assert_int_equal(scribe_reduction_begin(ids[k], b, eb), 0);
		assert_int_equal(scribe_reduction_join(ids[k], ea, eb), 0);
		assert_int_equal(scribe_reduction_end(ids[k], ea, got), 0);
		for (int i = 0; i < m->ncounters; i++)
			if (m->counters[i].rule == SCRIBE_RULE_KEEP)
				assert_int_equal(scribe_record_counters(m, got)[i], 5);
		assert_memory_equal((char *)got + base, (char *)a + base, m->counters_at - base);
		/* and where there is a lower rank, that one's */
		b[1] = 2;
		assert_int_equal(scribe_reduction_begin(ids[k], b, eb), 0);
		assert_int_equal(scribe_reduction_join(ids[k], ea, eb), 0);
		assert_int_equal(scribe_reduction_end(ids[k], ea, got), 0);
		for (int i = 0; i < m->ncounters; i++)
			if (m->counters[i].rule == SCRIBE_RULE_KEEP)
				assert_int_equal(scribe_record_counters(m, got)[i], 6);
		assert_memory_equal((char *)got + base, (char *)b + base, m->counters_at - base);
		free(ea);
		free(eb);
	}
}

/* Two records of one file, neither an element: servers beyond the shorter one's count from 0. */
static void merges_servers(void **state)
{
	static const int64_t servers[] = {0, 1, 2, 5};
	static uint64_t a[1024], b[1024];
	struct scribe_mdhim_record *x = (void *)a, *y = (void *)b;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++) {
			int64_t mine = servers[i] ? servers[i] : 1, theirs = servers[k] ? servers[k] : 1;

			memset(a, 0x55, sizeof(a));
			memset(b, 0x55, sizeof(b));
			memset(x, 0, sizeof(*x));
			memset(y, 0, sizeof(*y));
			x->counters[SCRIBE_MDHIM_SERVERS] = servers[i];
			y->counters[SCRIBE_MDHIM_SERVERS] = servers[k];
			for (int64_t n = 0; n < mine; n++)
				x->server_histogram[n] = 100 + n;
			for (int64_t n = 0; n < theirs; n++)
				y->server_histogram[n] = 1000 * n + 7;
			assert_int_equal(scribe_record_merge(SCRIBE_MOD_MDHIM, x, y), 0);
			for (int64_t n = 0; n < mine || n < theirs; n++)
				assert_int_equal(x->server_histogram[n],
						 (n < mine ? 100 + n : 0) + (n < theirs ? 1000 * n + 7 : 0));
			/* what is behind them is nobody's */
			assert_int_equal(x->server_histogram[mine > theirs ? mine : theirs], 0x5555555555555555);
		}
}

/* Of the modules with lengths of their own: what is too long, or the module's head, on either side. */
static void merges_only_what_fits(void **state)
{
	static uint64_t a[2048], b[2048];
	struct scribe_mdhim_record *x = (void *)a, *y = (void *)b;
	struct scribe_apmpi_header_record *head = (void *)b;

	(void)state;
	for (int i = 0; i < 4; i++) {
		x->counters[SCRIBE_MDHIM_SERVERS] = SCRIBE_REDUCTION_MDHIM_SERVERS + (i & 1);
		y->counters[SCRIBE_MDHIM_SERVERS] = SCRIBE_REDUCTION_MDHIM_SERVERS + (i >> 1);
		assert_int_equal(scribe_record_merge(SCRIBE_MOD_MDHIM, x, y), i ? -SCRIBE_E_LIMIT : 0);
	}
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_APMPI, a, b), 0);
	head->magic = SCRIBE_APMPI_MAGIC;
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_APMPI, a, b), -SCRIBE_E_UNSUPPORTED);
	assert_int_equal(scribe_record_merge(SCRIBE_MOD_APMPI, b, a), -SCRIBE_E_UNSUPPORTED);
}

/* The slowest and fastest ranks are joined only where both records are shared ones; values by their counts. */
static void merges_ranks_and_values(void **state)
{
	struct scribe_posix_record a, b;

	(void)state;
	for (int64_t ra = -1; ra <= 1; ra++)
		for (int64_t rb = -1; rb <= 1; rb++) {
			memset(&a, 0, sizeof(a));
			memset(&b, 0, sizeof(b));
			a.base.rank = ra;
			b.base.rank = rb;
			a.counters[SCRIBE_POSIX_SLOWEST_RANK] = 4;
			a.fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] = 1;
			b.counters[SCRIBE_POSIX_SLOWEST_RANK] = 9;
			b.fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] = 2;
			a.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_TIME] = 3;
			a.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_BYTES] = 3;
			b.counters[SCRIBE_POSIX_MODE] = 0644;
			for (int k = 0; k < 4; k++) {
				a.counters[SCRIBE_POSIX_ACCESS1_ACCESS + k] = 100 + k;
				a.counters[SCRIBE_POSIX_ACCESS1_COUNT + k] = 40 - 10 * k;
				b.counters[SCRIBE_POSIX_ACCESS1_ACCESS + k] = 200 + k;
				b.counters[SCRIBE_POSIX_ACCESS1_COUNT + k] = 45 - 10 * k;
			}
			assert_int_equal(scribe_record_merge(SCRIBE_MOD_POSIX, &a, &b), 0);
			assert_int_equal(a.counters[SCRIBE_POSIX_SLOWEST_RANK], ra < 0 && rb < 0 ? 9 : 4);
			assert_true(a.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_TIME] == 0);
			assert_true(a.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_BYTES] == 0);
			assert_int_equal(a.counters[SCRIBE_POSIX_MODE], 0644);
			for (int k = 0; k < 4; k++) {
				assert_int_equal(a.counters[SCRIBE_POSIX_ACCESS1_ACCESS + k],
						 (k % 2 ? 100 : 200) + k / 2);
				assert_int_equal(a.counters[SCRIBE_POSIX_ACCESS1_COUNT + k], 45 - 5 * k);
			}
		}
}

static void jobs_go_from_the_earliest_to_the_latest(void **state)
{
	static const struct {
		int64_t s, ns;
	} t[] = {{7, 5}, {7, 6}, {8, 0}, {8, 9}, {9, 1}};
	const int n = sizeof(t) / sizeof(t[0]);

	(void)state;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			struct scribe_log_job a = {.start_time_sec = t[i].s,
						   .start_time_nsec = t[i].ns,
						   .end_time_sec = t[i].s,
						   .end_time_nsec = t[i].ns,
						   .nprocs = i};
			struct scribe_log_job b = {.start_time_sec = t[k].s,
						   .start_time_nsec = t[k].ns,
						   .end_time_sec = t[k].s,
						   .end_time_nsec = t[k].ns,
						   .nprocs = k};
			int least = i < k ? i : k, most = i > k ? i : k;

			assert_int_equal(scribe_job_earlier(&a, &b), i < k);
			scribe_job_merge(&a, &b);
			assert_int_equal(a.start_time_sec, t[least].s);
			assert_int_equal(a.start_time_nsec, t[least].ns);
			assert_int_equal(a.end_time_sec, t[most].s);
			assert_int_equal(a.end_time_nsec, t[most].ns);
			assert_int_equal(a.nprocs, most);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_split_is_the_whole),
		cmocka_unit_test(a_tie_is_the_first_ones),
		cmocka_unit_test(merges_servers),
		cmocka_unit_test(merges_only_what_fits),
		cmocka_unit_test(merges_ranks_and_values),
		cmocka_unit_test(records_that_do_not_fit),
		cmocka_unit_test(autoperf_has_variances_too),
		cmocka_unit_test(full_tables),
		cmocka_unit_test(jobs_go_from_the_earliest_to_the_latest),
		cmocka_unit_test(posix_is_what_a_model_says),
		cmocka_unit_test(merging_in_one_rank),
		cmocka_unit_test(shared_by_hand),
		cmocka_unit_test(not_reduced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
