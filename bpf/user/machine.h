/* SPDX-License-Identifier: BSD-3-Clause */
/* What of this machine and this process decides whether the kernel takes our programs. */
#ifndef BPF_USER_MACHINE_H
#define BPF_USER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_machine {
	char release[65]; /* of the kernel, as uname says it */
	unsigned major, minor;
	uint32_t uid;  /* effective */
	uint64_t caps; /* effective capabilities, bit by number */
	bool user_ns;  /* in another user namespace than the machine's first */
	bool no_proc;  /* /proc is not mounted: what is read from there is not known */
	bool confidential; /* lockdown is at confidentiality: kernel memory may not be read */
	bool filtered;   /* a seccomp filter stands over this process */
	int bpf_errno;   /* of a call of bpf() that means nothing: EINVAL where it is let through */
	int perf_errno;  /* of such a call of perf_event_open() */
	uint64_t nofile; /* limits; UINT64_MAX: none */
	uint64_t space;    /* address space */
	int types_errno;       /* of opening /sys/kernel/btf/vmlinux; 0: readable */
	bool tracefs;          /* at /sys/kernel/tracing, or where that was before */
	int paranoid;          /* kernel.perf_event_paranoid; INT_MIN unknown */
	uint64_t memory_limit; /* bytes, of the closest control group; UINT64_MAX: none */
	char memory_group[192];
};

/* Read it now. */
void scribe_machine_read(struct scribe_machine *ret_machine);
bool scribe_machine_older(const struct scribe_machine *m, unsigned major, unsigned minor);
/* Capability `cap` by its number; CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON. */
bool scribe_machine_can(const struct scribe_machine *m, unsigned cap);

#define SCRIBE_CAP_SYS_ADMIN    21
#define SCRIBE_CAP_PERFMON      38
#define SCRIBE_CAP_BPF          39

#endif
