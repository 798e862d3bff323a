// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which levels a kernel has and in which order they are tried, from what it does with
 * programs alone: kernels that preempt nothing, those of processes, and all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/user/levels.h"

static const struct {
	const char *kernel;
	struct scribe_preempted preempted;
	const char *exact; /* levels that lose nothing, in the order of `auto` */
	const char *lossy; /* and those it has not, which come last */
} kernels[] = {
	{"6.18", {false, false, false}, "tp_btf tp_btf_probe tracepoint", ""},
	{"7.1", {false, true, true}, "tp_btf tracepoint", "tp_btf_probe"},
	{"7.1, no trace events", {false, true, false}, "", "tp_btf tp_btf_probe tracepoint"},
	{"7.3", {true, true, true}, "tracepoint", "tp_btf tp_btf_probe"},
	{"7.3, processes' are not", {true, false, true}, "tracepoint", "tp_btf tp_btf_probe"},
};

static void add(char *list, size_t cap, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, cap - n, "%s%s", n ? " " : "", name);
}

static void what_skips_is_not_there(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		char exact[128] = "", lossy[128] = "";
		const struct scribe_bpf_level_row *row;
		size_t n = 0;

		for (; (row = scribe_bpf_level_in_order(n, kernels[k].preempted)); n++) {
			bool skips = scribe_bpf_level_skips(row, kernels[k].preempted);

			assert_true(skips || !lossy[0]);
			add(skips ? lossy : exact, sizeof(exact), row->name);
		}
		if (n != scribe_bpf_nlevels || strcmp(exact, kernels[k].exact) || strcmp(lossy, kernels[k].lossy))
			fail_msg("%s: %zu levels, exact: %s, lossy: %s", kernels[k].kernel, n, exact, lossy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_skips_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
