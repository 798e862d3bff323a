/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon's processes give up after start: capabilities, new
 * privileges, system calls that none of them needs. SECURITY.md justifies what
 * is kept.
 */
#ifndef RUNTIME_DAEMON_CONFINE_H
#define RUNTIME_DAEMON_CONFINE_H

#include "logfmt/base/err.h"

enum scribe_part {
	SCRIBE_PART_DAEMON,    /* keeps BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH */
	SCRIBE_PART_ADMIN,     /* the same where perf events need SYS_ADMIN: keeps that too */
	SCRIBE_PART_MAKER,     /* makes the hands: keeps SETUID, SETGID */
	SCRIBE_PART_RUN_MAKER, /* of a private daemon: DAC_OVERRIDE besides, for root's own commands */
	SCRIBE_PART_HAND,      /* touches the user's files: keeps nothing */
	SCRIBE_PART_READER,    /* a hand that reads what users wrote: keeps nothing, may do what it needs alone */
	SCRIBE_PART_ROOT_HAND, /* touches root's files: keeps DAC_OVERRIDE where its maker has it */
};

/*
 * Confine this process for good: no_new_privs, capabilities (also those of the
 * bounding set where that is possible), a seccomp filter that refuses with
 * EPERM. Capabilities that it does not have are not missed. Negative, with the
 * reason in err: nothing may be served then.
 */
int scribe_confine(enum scribe_part part, struct scribe_err *err);

#endif
