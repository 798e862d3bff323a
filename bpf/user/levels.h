/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways into the kernel, strongest first, and which programs each takes from the
 * object. Private to bpf/.
 */
#ifndef BPF_USER_LEVELS_H
#define BPF_USER_LEVELS_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/user/load.h"

/* One way of hanging on system calls. */
struct scribe_bpf_level_row {
	enum scribe_bpf_level level;
	const char *name;  /* as in the key `attach` */
	bool probe_reads;  /* kernel memory by bpf_probe_read_kernel(), as before Linux 6.2 */
	const char *enter_program; /* its programs */
	const char *exit_program;
	const char *kfunc; /* kernel function that it needs, NULL none */
	bool whole;        /* its programs run to their end wherever the kernel preempts itself */
};

extern const struct scribe_bpf_level_row scribe_bpf_levels[];
extern const size_t scribe_bpf_nlevels;

/* NULL: no such level. */
const struct scribe_bpf_level_row *scribe_bpf_level_row(enum scribe_bpf_level level);
/* Has this kernel, by its types, what the level needs? */
bool scribe_bpf_level_fits(const struct scribe_bpf_level_row *row, const struct btf *btf);
/* 0, or why its trace event cannot be opened. */
int scribe_bpf_level_event(const struct scribe_bpf_level_row *row);

/* What this kernel does with programs of raw and typed tracepoints (preempt.c). */
struct scribe_preempted {
	bool calls;  /* those of the system calls' can be preempted */
	bool process_events; /* those of processes and io_uring */
	bool events; /* trace events, whose programs are not, can be opened by this process */
};
/* Does such a kernel skip programs of the level, so that calls are lost? */
bool scribe_bpf_level_skips(const struct scribe_bpf_level_row *row, struct scribe_preempted preempted);
/*
 * Have the level's programs loaded with the object, those of processes and those of io_uring that
 * this kernel has. Where those of processes and io_uring can be preempted, trace events take their
 * place where they can; `nobody_joins`: but what is enrolled by name.
 */
int scribe_bpf_level_choose(const struct scribe_bpf_level_row *row, struct bpf_object *object,
			    const struct btf *btf, struct scribe_preempted preempted, bool nobody_joins);
/* A link of a program to what it is for; negative: error. */
int scribe_bpf_attach_program(const char *program, int fd);

/*
 * The i-th level to try when none is asked for, NULL behind the last: those first whose
 * programs are never skipped here.
 */
const struct scribe_bpf_level_row *scribe_bpf_level_in_order(size_t i, struct scribe_preempted preempted);

/* ---- preempt.c ---- */
/* Does this kernel preempt code of its own, so that it has to be tried? */
bool scribe_bpf_may_preempt(void);
struct scribe_preempted scribe_bpf_preempts(const struct btf *btf);

#endif
