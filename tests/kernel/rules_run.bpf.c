// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/*
 * The update rules inside the kernel, run by hand on a batch (BPF_PROG_TEST_RUN
 * of a syscall program): no tracepoint, no other process.
 */
#include "bpf/kern/kernel.bpf.h"
#include <bpf/bpf_helpers.h>

#include "tests/kernel/rules_run.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rules_run);
} scribe_batch SEC(".maps");

static long one(__u32 i, void *ctx)
{
	__u32 zero = 0;
	struct rules_run *r = bpf_map_lookup_elem(&scribe_batch, &zero);

	if (!r || i >= r->count || i >= RULES_RUN_OPS)
		return 1;
	rules_run_one(r, i);
	return 0;
}

SEC("syscall")
int scribe_exclusion_rules(void *ctx)
{
	bpf_loop(RULES_RUN_OPS, one, 0, 0);
	return 0;
}
