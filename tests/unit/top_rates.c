/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of samples made here: what ended, was collected, or replaced between two of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "logfmt/counters/records.h"
#include "util/cmd/top/rates.h"

#define S 1000000000ull

/* Two samples of one job with two processes and three records, two seconds apart. */
static struct scribe_live_job job[2];
static struct scribe_sampled_process process[2][2];
static struct scribe_sampled_record record[2][3];
static struct scribe_top_sample sample[2];
static struct scribe_top_rows rows;

static struct scribe_sampled_record a_record(uint32_t proc_id, uint32_t slot, size_t at, uint64_t bytes, uint64_t ops)
{
	return (struct scribe_sampled_record){.is = {.proc_id = proc_id,
						     .module = SCRIBE_MOD_POSIX,
						     .slot = slot,
						     .generation = 1,
						     .name = 500 + slot,
						     .operations = ops + 1,
						     .ops = {0, ops},
						     .bytes = {0, bytes},
						     .busy_ns = {0, ops * 1000, 7},
						     .longest_ns = {0, 5000},
						     .own = 1},
					      .process = at};
}

static int make(void **state)
{
	for (int i = 0; i < 2; i++) {
		job[i] = (struct scribe_live_job){.job = 3, .begun_ns = 77, .id = "j", .ended = {100, {10, 20}}};
		process[i][0] = (struct scribe_sampled_process){.is = {.proc_id = 8, .pid = 80, .rank = 0, .unit = 1}};
		process[i][1] = (struct scribe_sampled_process){.is = {.proc_id = 9, .pid = 90, .rank = 1, .unit = 1}};
		record[i][0] = a_record(8, 1, 0, i ? 5000 : 1000, i ? 50 : 10);
		record[i][1] = a_record(8, 2, 0, 300, 3);
		record[i][2] = a_record(9, 1, 1, i ? 900 : 400, i ? 9 : 4);
		sample[i] = (struct scribe_top_sample){.at_ns = (10 + 2 * (uint64_t)i) * S,
						       .job = &job[i],
						       .process = process[i],
						       .record = record[i],
						       .jobs = 1,
						       .processes = 2,
						       .records = 3};
		for (int k = 0; k < 3; k++)
			record[i][k].at_ns = sample[i].at_ns;
		for (int k = 0; k < 2; k++)
			process[i][k].at_ns = sample[i].at_ns;
	}
	(void)state;
	return 0;
}

static int clear(void **state)
{
	(void)state;
	scribe_top_rows_clear(&rows);
	return 0;
}

static const struct scribe_top_row *make_rows(struct scribe_top_scope scope, size_t n)
{
	assert_int_equal(scribe_top_rows_make(&sample[0], &sample[1], &scope, &rows), 0);
	assert_int_equal(rows.n, n);
	return rows.row;
}

#define VIEW(v)    ((struct scribe_top_scope){.view = (v), .rank = -1})
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void jobs(void **state)
{
	const struct scribe_top_row *r = make_rows(VIEW(SCRIBE_TOP_JOBS), 1);

	(void)state;
	NEAR(rows.seconds, 2);
	NEAR(r->bytes_s[1], 2250);
	NEAR(r->ops_s, 22.5);
	NEAR(r->latency_s, 1e-6);
	NEAR(r->size, 100);
	NEAR(r->longest_s, 5e-6);
	assert_int_equal(r->bytes[0], 10);
	assert_int_equal(r->bytes[1], 20 + 6200);
	assert_int_equal(r->operations, 100 + 65);
	assert_int_equal(r->processes, 2);
}

static void views(void **state)
{
	const struct scribe_top_row *r = make_rows(VIEW(SCRIBE_TOP_FILES), 2);

	(void)state;
	assert_int_equal(r[0].name, 501);
	NEAR(r[0].bytes_s[1], 2250);
	assert_int_equal(r[0].processes, 2);
	NEAR(r[1].bytes_s[1], 0);
	assert_true(isnan(r[1].latency_s));
	scribe_top_rows_clear(&rows);
	r = make_rows(VIEW(SCRIBE_TOP_RANKS), 2);
	assert_int_equal(r[1].rank, 1);
	NEAR(r[1].bytes_s[1], 250);
	scribe_top_rows_clear(&rows);
	r = make_rows((struct scribe_top_scope){.view = SCRIBE_TOP_FILES, .rank = -1, .pid = 90}, 1);
	NEAR(r->bytes_s[1], 250);
	assert_int_equal(r->processes, 1);
	scribe_top_rows_clear(&rows);
	r = make_rows((struct scribe_top_scope){.view = SCRIBE_TOP_PROCESSES, .rank = 0, .unit = 1}, 1);
	assert_int_equal(r->process->pid, 80);
	scribe_top_rows_clear(&rows);
	(void)make_rows((struct scribe_top_scope){.view = SCRIBE_TOP_JOBS, .rank = -1, .job_id = "other"}, 0);
}

/* Its records were collected, and fresh ones have begun: nothing is lost or twice. */
static void collected(void **state)
{
	const struct scribe_top_row *r;

	(void)state;
	process[1][0].is.collected = (struct scribe_live_sums){.operations = 15, .bytes = {0, 2300}};
	record[1][0] = a_record(8, 4, 0, 700, 7);
	record[1][0].at_ns = sample[1].at_ns;
	record[1][1] = record[1][2];
	record[1][1].process = 1;
	sample[1].records = 2;
	r = make_rows(VIEW(SCRIBE_TOP_PROCESSES), 2);
	NEAR(r[0].bytes_s[1], (3000 - 1300) / 2.0);
	assert_int_equal(r[0].bytes[1], 3000);
	NEAR(r[0].size, 100);
}

/* One has ended: the rest of what it moved is in the job's sum. */
static void ended(void **state)
{
	const struct scribe_top_row *r;

	(void)state;
	job[1].ended = (struct scribe_live_sums){.operations = 100 + 25, .bytes = {10, 20 + 2300}};
	process[1][0] = process[1][1];
	record[1][0] = record[1][2];
	record[1][0].process = 0;
	sample[1].processes = sample[1].records = 1;
	r = make_rows(VIEW(SCRIBE_TOP_JOBS), 1);
	NEAR(r->bytes_s[1], ((2300 - 1300) + 500) / 2.0);
	scribe_top_rows_clear(&rows);
	/* it ended while the sample was taken: it is in none of them, and nothing goes back */
	job[1].ended = job[0].ended;
	r = make_rows(VIEW(SCRIBE_TOP_JOBS), 1);
	NEAR(r->bytes_s[1], 250);
}

/* Another record in the same place is not the old one; a new process and a new job count from nothing. */
static void replaced(void **state)
{
	const struct scribe_top_row *r;

	(void)state;
	record[1][0].is.generation = 2;
	r = make_rows(VIEW(SCRIBE_TOP_FILES), 2);
	NEAR(r[0].bytes_s[1], (5000 + 500) / 2.0);
	scribe_top_rows_clear(&rows);
	sample[0].processes = sample[0].records = sample[0].jobs = 0;
	r = make_rows(VIEW(SCRIBE_TOP_JOBS), 1);
	NEAR(r->bytes_s[1], (20 + 6200) / 2.0);
}

/* Library calls move their bytes by the file's own calls: they count to no process. */
static void layers(void **state)
{
	const struct scribe_top_row *r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		record[i][1].is.module = SCRIBE_MOD_MPIIO;
		record[i][1].is.name = 501;
		record[i][1].is.own = 0;
		record[i][1].is.bytes[1] = i ? 9000 : 0;
	}
	r = make_rows(VIEW(SCRIBE_TOP_PROCESSES), 2);
	NEAR(r[0].bytes_s[1], 2000);
	assert_int_equal(r[0].modules, 1ull << SCRIBE_MOD_POSIX | 1ull << SCRIBE_MOD_MPIIO);
	scribe_top_rows_clear(&rows);
	r = make_rows(VIEW(SCRIBE_TOP_FILES), 2);
	NEAR(r[1].bytes_s[1], 4500);
	assert_int_equal(r[1].modules, 1ull << SCRIBE_MOD_MPIIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(jobs, make, clear),
					   cmocka_unit_test_setup_teardown(views, make, clear),
					   cmocka_unit_test_setup_teardown(collected, make, clear),
					   cmocka_unit_test_setup_teardown(ended, make, clear),
					   cmocka_unit_test_setup_teardown(replaced, make, clear),
					   cmocka_unit_test_setup_teardown(layers, make, clear)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
