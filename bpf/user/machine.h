/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BPF_USER_MACHINE_H
#define BPF_USER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_machine {
	char release[65]; /* from uname */
	unsigned major, minor;
	uint32_t uid;          /* effective */
	uint64_t caps;         /* effective, bit by number */
	bool user_ns;          /* not the machine's first one */
	bool no_proc;          /* /proc is not mounted: values from there are unknown */
	bool confidential;     /* lockdown: kernel memory may not be read */
	bool filtered;         /* seccomp */
	int bpf_errno;         /* of an invalid call of bpf(); EINVAL: allowed */
	int perf_errno;        /* the same of perf_event_open() */
	uint64_t nofile;       /* UINT64_MAX: none */
	uint64_t space;        /* address space */
	int types_errno;       /* of opening /sys/kernel/btf/vmlinux; 0: readable */
	bool tracefs;          /* or at its old path */
	int paranoid;          /* kernel.perf_event_paranoid; INT_MIN unknown */
	uint64_t memory_limit; /* bytes, least of the cgroups; UINT64_MAX: none */
	char memory_group[192];
};

void scribe_machine_read(struct scribe_machine *ret_machine);
bool scribe_machine_older(const struct scribe_machine *m, unsigned major, unsigned minor);
/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. */
bool scribe_machine_can(const struct scribe_machine *m, unsigned cap);

#define SCRIBE_CAP_SYS_ADMIN 21
#define SCRIBE_CAP_PERFMON   38
#define SCRIBE_CAP_BPF       39

#endif
