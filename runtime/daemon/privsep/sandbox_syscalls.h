/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_SANDBOX_SYSCALLS_H
#define RUNTIME_DAEMON_PRIVSEP_SANDBOX_SYSCALLS_H

/* Kinds of processes, and the capabilities that each keeps (sandbox.c). */
enum scribe_process_role {
	SCRIBE_PROCESS_DAEMON,      /* keeps BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH, LEASE */
	SCRIBE_PROCESS_ADMIN,       /* and SYS_ADMIN, for perf events */
	SCRIBE_PROCESS_SPAWNER,     /* SETUID, SETGID, SYS_PTRACE, SYS_CHROOT */
	SCRIBE_PROCESS_RUN_SPAWNER, /* of a private daemon: DAC_OVERRIDE instead of SYS_CHROOT */
	SCRIBE_PROCESS_HELPER,      /* none */
	SCRIBE_PROCESS_READER,      /* a helper that reads user data: fewer system calls */
	SCRIBE_PROCESS_LINKER,      /* BPF, PERFMON */
	SCRIBE_PROCESS_SNAPSHOT,    /* a copy of the daemon: none */
	SCRIBE_PROCESS_ROOT_HELPER, /* SYS_PTRACE, DAC_OVERRIDE */
	SCRIBE_PROCESS_PROCFS,      /* SYS_PTRACE, DAC_READ_SEARCH */
};

#define SCRIBE_REFUSED_CALL 0x5ca11ed0

/* Sent by a helper instead of an answer after a refused system call. */
struct scribe_refused_call {
	int magic; /* SCRIBE_REFUSED_CALL */
	int call;
};

/*
 * Installs the role's filter, for good. A refused call fails with ENOSYS (EPERM, if it is allowed with other
 * arguments); a helper, reader or snapshot exits with 128 + SIGSYS. 0 or a negative errno.
 */
int scribe_calls_filter(enum scribe_process_role role);
/*
 * Compiles the role's filter, kept for processes that this one forks: it takes longer than the rest of their start. 0
 * or a negative errno; then they compile it.
 */
int scribe_calls_prepare(enum scribe_process_role role);
/* The socket for reports, 3 by default; before the filter. */
void scribe_calls_socket(int sock);
/* Prints calls refused to the daemon since, each once. */
void scribe_calls_report(void);
/* Prints a report of a helper. */
void scribe_refused_calls_add(const struct scribe_refused_call *refused);

#endif
