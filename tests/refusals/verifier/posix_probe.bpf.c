// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/* The program of raw tracepoints is one that no verifier takes: it reads at an address that is a time. */
#define scribe_raw_enter scribe_raw_before
#include "bpf/kern/posix_probe.bpf.c"
#undef scribe_raw_enter

SEC("?raw_tp/sys_enter")
int scribe_raw_enter(void *ctx)
{
	return *(volatile int *)bpf_ktime_get_ns();
}
