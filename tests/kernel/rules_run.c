/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same inline rules, in the kernel and here: random batches go through both
 * and the states must be equal to the byte. tests/unit/logfmt_rules.c holds the
 * rules against a reference of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/kernel/rules_run.h"
#include "tests/kernel/rules_run.skel.h"

#define BATCHES 4000

static uint64_t state = 0x1234567887654321ull;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static uint64_t some_bytes(void)
{
	static const uint64_t edges[] = {0,        1,        100,       101,       1024,       1025,      10240,
					 10241,    102400,   102401,    1048576,   1048577,    4194304,   4194305,
					 10485760, 10485761, 104857600, 104857601, 1073741824, 1073741825};

	switch (rnd(3)) {
	case 0:
		return edges[rnd(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return 1 + rnd(60) * 512; /* more than 32 distinct */
	default:
		return 4096;
	}
}

static void fill(struct rules_run *r, uint64_t *clock)
{
	static const uint32_t aligns[] = {0, 512, 4096, 1u << 20, 3000};
	uint32_t align = aligns[rnd(5)];

	r->count = 1 + (uint32_t)rnd(RULES_RUN_OPS);
	for (uint32_t i = 0; i < r->count; i++) {
		struct scribe_data_op *op = &r->op[i];

		memset(op, 0, sizeof(*op));
		op->op = (uint32_t)rnd(2);
		op->bytes = some_bytes();
		op->offset =
			rnd(4) ? r->cursor.last_byte[op->op] + 1 + (int64_t)rnd(3) * 4096 : (int64_t)rnd(1ull << 40);
		op->start_ns = *clock - rnd(50);
		op->end_ns = op->start_ns + rnd(400);
		op->unaligned = rnd(8) == 0;
		op->align = align;
		r->reopen[i] = rnd(32) == 0;
		*clock += rnd(200);
	}
}

static void rules_are_equal_in_the_kernel(void **unused)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct scribe_rules_run *skel = scribe_rules_run__open_and_load();
	struct rules_run *kernel, *user = calloc(1, sizeof(*user));
	size_t bytes = (sizeof(*kernel) + 4095) / 4096 * 4096;
	uint64_t clock = 1000, operations = 0;

	(void)unused;
	assert_non_null(skel);
	assert_non_null(user);
	kernel = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(skel->maps.scribe_batch), 0);
	assert_ptr_not_equal(kernel, MAP_FAILED);
	for (int b = 0; b < BATCHES; b++) {
		if (rnd(16) == 0) { /* a new file; now and then one without a lock */
			memset(user, 0, sizeof(*user));
			user->atomic = rnd(4) == 0;
			user->alone = rnd(2) == 0;
			memcpy(kernel, user, sizeof(*user));
		}
		fill(user, &clock);
		memcpy(kernel->op, user->op, sizeof(user->op));
		memcpy(kernel->reopen, user->reopen, sizeof(user->reopen));
		kernel->count = user->count;
		assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.scribe_exclusion_rules), &opts), 0);
		for (uint32_t i = 0; i < user->count; i++)
			rules_run_one(user, i);
		assert_memory_equal(kernel, user, sizeof(*user));
		operations += user->count;
	}
	assert_true(operations >= 100000);
	print_message("%llu operations in %d batches\n", (unsigned long long)operations, BATCHES);
	munmap(kernel, bytes);
	free(user);
	scribe_rules_run__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rules_are_equal_in_the_kernel)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
