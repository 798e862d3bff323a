// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ways into the kernel: each that this kernel has what it takes for loads and
 * attaches when it is forced, and the best of them is taken when none is. A level
 * that is quietly passed over for a weaker one would go unseen otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "bpf/user/levels.h"

static struct btf *types;

static enum scribe_bpf_level loads(enum scribe_bpf_level level, bool inexact)
{
	struct scribe_bpf_options options = {.slots = 1024, .procs = 64, .level = level, .inexact = inexact};
	enum scribe_bpf_level chosen = SCRIBE_BPF_AUTO;
	struct scribe_bpf *bpf = NULL;
	struct scribe_err err = {0};

	if (scribe_bpf_open(&options, &bpf, &err) == 0 && scribe_bpf_attach(bpf, &err) == 0)
		chosen = scribe_bpf_chosen(bpf);
	else
		print_message("%s: %s\n", scribe_bpf_level_name(level), err.text);
	scribe_bpf_free(bpf);
	return chosen;
}

static void each_that_fits_loads(void **state)
{
	for (size_t i = 0; i < scribe_bpf_nlevels; i++) {
		const struct scribe_bpf_level_row *row = &scribe_bpf_levels[i];

		bool fits = scribe_bpf_level_fits(row, types);
		bool skips = scribe_bpf_level_skips(row, scribe_bpf_preempts(types));

		assert_int_equal(loads(row->level, true), fits ? row->level : SCRIBE_BPF_AUTO);
		assert_int_equal(loads(row->level, false), fits && !skips ? row->level : SCRIBE_BPF_AUTO);
	}
}

static void the_first_that_fits_is_taken(void **state)
{
	struct scribe_preempted preempts = scribe_bpf_preempts(types);
	const struct scribe_bpf_level_row *row;
	size_t i = 0;

	while ((row = scribe_bpf_level_in_order(i, preempts)) && !scribe_bpf_level_fits(row, types))
		i++;
	assert_non_null(row);
	print_message("programs are%s preempted here: %s\n", preempts.calls ? "" : " not", row->name);
	assert_int_equal(loads(SCRIBE_BPF_AUTO, false), row->level);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_that_fits_loads),
		cmocka_unit_test(the_first_that_fits_is_taken),
	};
	int failed;

	types = btf__load_vmlinux_btf();
	failed = types ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
	btf__free(types);
	return failed;
}
