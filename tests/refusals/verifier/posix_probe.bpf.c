// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/* The program at a system call's entry is one that no verifier takes: it reads at an address that is a time. */
#define scribe_sys_enter scribe_sys_before
#include "bpf/kern/posix_probe.bpf.c"
#undef scribe_sys_enter

SEC("?tp_btf/sys_enter")
int scribe_sys_enter(void *ctx)
{
	return *(volatile int *)bpf_ktime_get_ns();
}
