/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel refuses, as one line: what was refused, why, what to do. The errno
 * alone does not tell: EACCES is the verifier's no as well as that of privileges.
 */
#ifndef BPF_USER_REFUSAL_H
#define BPF_USER_REFUSAL_H

#include <stddef.h>

#include "bpf/user/machine.h"
#include "logfmt/base/err.h"

/* What was being done. */
enum scribe_step {
	SCRIBE_STEP_TYPES,       /* reading the kernel's types */
	SCRIBE_STEP_LOAD,        /* making maps, loading programs */
	SCRIBE_STEP_MEMORY,      /* mapping and filling maps */
	SCRIBE_STEP_ATTACH,      /* to system calls and processes */
	SCRIBE_STEP_PROBE_MULTI, /* to a library's functions, by one link a file */
	SCRIBE_STEP_PROBE_PERF,  /* the same, by one event each */
	SCRIBE_STEP_EVENT,       /* opening a trace event */
};

struct scribe_refusal {
	int code; /* negative errno */
	enum scribe_step step;
	const char *what; /* program, map, link, or folder; NULL: the log tells, or all of them */
	const char *log;  /* what libbpf and the verifier have said (bpf/user/libbpf_log.h) */
};

/*
 * The line, and the cause's name as the tests and `ioscribed --features` have it:
 * "capability", "verifier", … (constant). Deterministic in its arguments.
 */
const char *scribe_refusal_line(const struct scribe_refusal *r, const struct scribe_machine *m,
				char *ret_line, size_t cap);
/*
 * The same of this machine, now, with what libbpf has said since scribe_said_begin.
 * Stores it in err and returns `code`.
 */
int scribe_refused(struct scribe_err *err, int code, enum scribe_step step, const char *what);

/* The name of the cause that the last scribe_refused has found; "" none yet. */
const char *scribe_refused_cause(void);

#endif
