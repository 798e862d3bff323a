// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/* One program more, which calls a function that no kernel has. */
#include "bpf/kern/posix_probe.bpf.c"

extern void scribe_no_such(void) __ksym;

SEC("raw_tp/sys_enter")
int scribe_forged(void *ctx)
{
	scribe_no_such();
	return 0;
}
