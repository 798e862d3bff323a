// SPDX-License-Identifier: BSD-3-Clause
/* What a call of a library does to a record, and the records made of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "logfmt/records/lib_finish.h"
#include "logfmt/rules/lib_rules.h"

struct file {
	struct scribe_cursor cursor;
	struct scribe_posix_shard shard;
	struct scribe_ext_shard ext;
};

static void apply(struct file *f, struct scribe_lib_op op, int atomic)
{
	struct scribe_lib_address place;

	scribe_lib_cursor(&f->cursor, &op, &place);
	if (atomic)
		scribe_lib_apply(&f->shard, &f->ext, &op, &place, 1);
	else
		scribe_lib_apply(&f->shard, &f->ext, &op, &place, 0);
	if (op.what == SCRIBE_LIB_DATA && !op.unsized)
		scribe_top_count(f->shard.access, (int64_t)op.bytes, 0);
}

static struct scribe_lib_op data(uint32_t op_class, uint64_t bytes, int64_t offset, uint64_t start, uint64_t end)
{
	return (struct scribe_lib_op){.start_ns = start,
				      .end_ns = end,
				      .bytes = bytes,
				      .offset = offset,
				      .what = SCRIBE_LIB_DATA,
				      .op_class = op_class,
				      .count_at = SCRIBE_LIB_NO_COUNT};
}

static void finish(const struct file *f, int module, union scribe_lib_record *ret)
{
	struct scribe_posix_acc acc;

	scribe_posix_acc_init(&acc);
	assert_int_equal(scribe_posix_acc_add(&acc, &f->shard, NULL, NULL), 0);
	scribe_posix_acc_add_ext(&acc, &f->ext);
	assert_true(scribe_lib_record_make(module, &acc, 7, 3, 100, 9, NULL, NULL, ret) > 0);
	scribe_posix_acc_free(&acc);
}

static void stdio(void **state)
{
	union scribe_lib_record r;

	(void)state;
	for (int atomic = 0; atomic < 2; atomic++) {
		struct file f = {0};
		struct scribe_lib_op op = {.start_ns = 110,
					   .end_ns = 120,
					   .offset = -1,
					   .what = SCRIBE_LIB_OPEN,
					   .op_class = SCRIBE_OP_META,
					   .count_at = SCRIBE_LIB_NO_COUNT};

		apply(&f, op, atomic);
		op.what = SCRIBE_LIB_REOPEN;
		apply(&f, op, atomic);
		apply(&f, data(SCRIBE_OP_WRITE, 1000, 0, 200, 300), atomic);
		apply(&f, data(SCRIBE_OP_WRITE, 10, 1000, 250, 350), atomic); /* 50 of its 100 ns overlap */
		apply(&f, data(SCRIBE_OP_READ, 5, 0, 400, 410), atomic);
		op.what = SCRIBE_LIB_SEEK;
		apply(&f, op, atomic);
		op.what = SCRIBE_LIB_FLUSH;
		op.op_class = SCRIBE_OP_NONE;
		apply(&f, op, atomic);
		finish(&f, SCRIBE_MOD_STDIO, &r);
		assert_int_equal(r.base.id, 7);
		assert_int_equal(r.base.rank, 3);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_OPENS], 2);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_FDOPENS], 1);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_WRITES], 2);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_READS], 1);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_SEEKS], 1);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_FLUSHES], 1);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_BYTES_WRITTEN], 1010);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_MAX_BYTE_WRITTEN], 1009);
		assert_int_equal(r.stdio.counters[SCRIBE_STDIO_MAX_BYTE_READ], 4);
		assert_float_equal(r.stdio.fcounters[SCRIBE_STDIO_F_WRITE_TIME], 0x1p-22, 0);
		assert_float_equal(r.stdio.fcounters[SCRIBE_STDIO_F_META_TIME], 0x1p-22, 0);
		assert_float_equal(r.stdio.fcounters[SCRIBE_STDIO_F_OPEN_START_TIMESTAMP], 0x1p-22, 0);
	}
}

static void mpiio(void **state)
{
	struct scribe_lib_op op = data(SCRIBE_OP_WRITE, 8, -1, 200, 300);
	union scribe_lib_record r;
	struct file f = {0};

	(void)state;
	op.count_at = SCRIBE_MPIIO_COLL_WRITES;
	apply(&f, op, 0);
	apply(&f, op, 0);
	op = data(SCRIBE_OP_READ, 2000, -1, 400, 900);
	op.count_at = SCRIBE_MPIIO_NB_READS;
	apply(&f, op, 0);
	op.unsized = 1; /* counted, without bytes */
	apply(&f, op, 0);
	finish(&f, SCRIBE_MOD_MPIIO, &r);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_COLL_WRITES], 2);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_NB_READS], 2);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_BYTES_READ], 2000);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_BYTES_WRITTEN], 16);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_RW_SWITCHES], 1);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_SIZE_WRITE_AGG_0_100], 2);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_SIZE_READ_AGG_1K_10K], 1);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_ACCESS1_ACCESS], 8);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_ACCESS1_COUNT], 2);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_MAX_READ_TIME_SIZE], 2000);
	assert_int_equal(r.mpiio.counters[SCRIBE_MPIIO_MODE], 9);
	assert_float_equal(r.mpiio.fcounters[SCRIBE_MPIIO_F_MAX_READ_TIME], 0x1p-21, 0);
}

static void other_modules_are_refused(void **state)
{
	union scribe_lib_record r;
	struct scribe_posix_acc acc;

	(void)state;
	scribe_posix_acc_init(&acc);
	assert_int_equal(scribe_lib_record_make(SCRIBE_MOD_POSIX, &acc, 1, 0, 0, 0, NULL, NULL, &r), 0);
	scribe_posix_acc_free(&acc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stdio),
		cmocka_unit_test(mpiio),
		cmocka_unit_test(other_modules_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
