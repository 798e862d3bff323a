/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in which all ranks wrote, of records with known times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "logfmt/counters/records.h"
#include "util/logs/phases.h"

static struct scribe_phases p;

static int clear(void **state)
{
	(void)state;
	scribe_phases_clear(&p);
	return 0;
}

static void wrote(int64_t rank, double begin, double end, int64_t bytes)
{
	struct scribe_posix_record r = {.base.rank = rank};

	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = bytes;
	r.counters[SCRIBE_POSIX_FSYNCS] = 1;
	r.fcounters[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] = begin;
	r.fcounters[SCRIBE_POSIX_F_CLOSE_START_TIMESTAMP] = end - 0.001;
	r.fcounters[SCRIBE_POSIX_F_CLOSE_END_TIMESTAMP] = end;
	assert_int_equal(scribe_phases_take(&p, SCRIBE_MOD_POSIX, &r), 0);
}

static void assert_phase(size_t i, double begin, double end, int64_t first, int64_t last, int64_t bytes)
{
	assert_true(i < p.n);
	assert_true(fabs(p.phase[i].begin - begin) < 1e-9);
	assert_true(fabs(p.phase[i].end - end) < 1e-9);
	assert_int_equal(p.phase[i].first_rank, first);
	assert_int_equal(p.phase[i].last_rank, last);
	assert_int_equal(p.phase[i].bytes, bytes);
}

static void a_file_by_each_rank(void **state)
{
	(void)state;
	for (int step = 0; step < 3; step++)
		for (int64_t rank = 3; rank >= 0; rank--)
			wrote(rank, 10 * step + 1, 10 * step + 2 + 0.1 * (double)((rank + step) % 4), 1000);
	wrote(2, 15, 15.5, 100000); /* by one rank alone */
	assert_int_equal(scribe_phases_find(&p, 4), 0);
	assert_int_equal(p.n, 3);
	assert_phase(0, 1, 2.3, 0, 3, 4000);
	assert_phase(1, 11, 12.3, 3, 2, 4000);
	assert_phase(2, 21, 22.3, 2, 1, 4000);
	assert_int_equal(p.phase[0].files, 4);
	assert_int_equal(p.phase[0].syncs, 4);
	assert_true(fabs(p.phase[0].first_end - 2) < 1e-9);
}

/* rank 0 and all ranks together have logs that stay open; a checkpoint is several files of a rank */
static void logs_join_nothing(void **state)
{
	(void)state;
	wrote(0, 0.5, 99, 500);
	wrote(-1, 0.5, 99, 900);
	for (int step = 0; step < 2; step++)
		for (int64_t rank = 0; rank < 2; rank++) {
			wrote(rank, 20 * step + 1, 20 * step + 2, 1000);
			wrote(rank, 20 * step + 2.04, 20 * step + 3 + (double)rank, 1000);
		}
	assert_int_equal(scribe_phases_find(&p, 2), 0);
	assert_int_equal(p.n, 2);
	assert_phase(0, 1, 4, 0, 1, 4000);
	assert_phase(1, 21, 24, 0, 1, 4000);
}

static void a_file_of_all_ranks(void **state)
{
	(void)state;
	wrote(-1, 5, 7, 8000);
	wrote(-1, 15, 17, 8000);
	assert_int_equal(scribe_phases_find(&p, 8), 0);
	assert_int_equal(p.n, 2);
	assert_phase(1, 15, 17, -1, -1, 8000);
	assert_true(fabs(p.phase[1].first_end - 16.999) < 1e-9);
}

/* stretches of reading, which contain each other without being a log's */
static void reading(void **state)
{
	(void)state;
	for (int epoch = 0; epoch < 3; epoch++)
		for (int64_t rank = 0; rank < 2; rank++) {
			assert_int_equal(
				scribe_phases_take_reads(&p, rank, 10 * epoch, 10 * epoch + 2 + (double)rank, 100), 0);
			assert_int_equal(scribe_phases_take_reads(&p, rank, 10 * epoch + 1, 10 * epoch + 1.5, 5000), 0);
		}
	assert_int_equal(scribe_phases_take_reads(&p, 0, 6, 7, 100), 0);         /* by one rank */
	assert_int_equal(scribe_phases_take_reads(&p, 0, 50, INFINITY, 100), 0); /* damage */
	assert_int_equal(scribe_phases_take_reads(&p, -1, 50, 51, 100), 0);
	assert_int_equal(scribe_phases_find(&p, 2), 0);
	assert_int_equal(p.n, 3);
	assert_phase(0, 0, 3, 0, 1, 10200);
	assert_phase(2, 20, 23, 0, 1, 10200);
	assert_true(fabs(p.phase[1].first_end - 12) < 1e-9);
}

static void nothing_to_tell(void **state)
{
	(void)state;
	wrote(0, 1, 2, 100);
	wrote(1, 8, 9, 100); /* not at the same time */
	wrote(0, NAN, 3, 100);
	wrote(1, 3, INFINITY, 100);
	wrote(0, 1, 2, 0);
	assert_int_equal(scribe_phases_find(&p, 2), 0);
	assert_int_equal(p.n, 0);
	scribe_phases_clear(&p);
	wrote(0, 1, 2, 100);
	assert_int_equal(scribe_phases_find(&p, 1), 0);
	assert_int_equal(p.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_file_by_each_rank, clear),
		cmocka_unit_test_teardown(logs_join_nothing, clear),
		cmocka_unit_test_teardown(a_file_of_all_ranks, clear),
		cmocka_unit_test_teardown(reading, clear),
		cmocka_unit_test_teardown(nothing_to_tell, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
