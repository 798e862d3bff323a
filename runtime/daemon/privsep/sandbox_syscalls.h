/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of system calls that the daemon's processes may make, and what was refused. */
#ifndef RUNTIME_DAEMON_PRIVSEP_SANDBOX_SYSCALLS_H
#define RUNTIME_DAEMON_PRIVSEP_SANDBOX_SYSCALLS_H

/* The kinds of processes, and the capabilities that each keeps (sandbox.c). */
enum scribe_process_role {
	SCRIBE_PROCESS_DAEMON,      /* keeps BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH */
	SCRIBE_PROCESS_ADMIN,       /* the same where perf events need SYS_ADMIN: keeps that too */
	SCRIBE_PROCESS_SPAWNER,     /* makes the hands: keeps SETUID, SETGID */
	SCRIBE_PROCESS_RUN_SPAWNER, /* of a private daemon: DAC_OVERRIDE besides, for root's own commands */
	SCRIBE_PROCESS_HELPER,      /* touches the user's files: keeps nothing */
	SCRIBE_PROCESS_READER, /* a helper that reads what users wrote: keeps nothing, may do what it needs
				  alone */
	SCRIBE_PROCESS_LINKER, /* makes links of probes: keeps BPF, PERFMON */
	SCRIBE_PROCESS_SNAPSHOT, /* a copy of the daemon that builds a log: keeps nothing */
	SCRIBE_PROCESS_ROOT_HELPER, /* touches root's files: keeps DAC_OVERRIDE where its maker has it */
};

#define SCRIBE_REFUSED_CALL 0x5ca11ed0

/* What a helper leaves on its socket (descriptor 3, if it has not said another) in place of an answer. */
struct scribe_refused_call {
	int magic; /* SCRIBE_REFUSED_CALL */
	int call;
};

/*
 * Allow this process the calls of its role, for good. What is not on the list is not done: in
 * the daemon and a maker of helpers it fails (ENOSYS, or EPERM where it is the arguments that
 * are not allowed), a helper exits with 128 + SIGSYS. 0 or a negative errno.
 */
int scribe_calls_filter(enum scribe_process_role role);
/* Before the filter: this process's socket. */
void scribe_calls_socket(int sock);
/* In the daemon: name what was refused to it since. Each call once. */
void scribe_calls_report(void);
/* And what a helper has told. */
void scribe_refused_calls_add(const struct scribe_refused_call *refused);

#endif
