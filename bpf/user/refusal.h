/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refusals of the kernel in one line: what, why, remedy. EACCES alone can mean the verifier or missing
 * privileges.
 */
#ifndef BPF_USER_REFUSAL_H
#define BPF_USER_REFUSAL_H

#include <stddef.h>

#include "bpf/user/machine.h"
#include "logfmt/base/err.h"

enum scribe_load_step {
	SCRIBE_STEP_TYPES,
	SCRIBE_STEP_LOAD,        /* making maps, loading programs */
	SCRIBE_STEP_MEMORY,      /* mapping and filling */
	SCRIBE_STEP_ATTACH,      /* system calls and processes */
	SCRIBE_STEP_PROBE_MULTI, /* library functions, one link per file */
	SCRIBE_STEP_PROBE_PERF,  /* the same, one event each */
	SCRIBE_STEP_EVENT,
};

struct scribe_refusal {
	int code; /* negative errno */
	enum scribe_load_step step;
	const char *what; /* program, map, link or directory; NULL: see the log, or all */
	const char *log;  /* of libbpf and the verifier (bpf/user/libbpf_log.h) */
};

/* Returns the cause's constant name, as printed by `ioscribed --features`. */
const char *scribe_refusal_line(const struct scribe_refusal *r, const struct scribe_machine *m, char *ret_line,
				size_t cap);
/* For this machine, with libbpf's output since scribe_said_begin. Returns `code`. */
int scribe_refused(struct scribe_err *err, int code, enum scribe_load_step step, const char *what);

/* Cause of the last scribe_refused; "": none. */
const char *scribe_refused_cause(void);

#endif
