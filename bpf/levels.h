/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways into the kernel, strongest first, and which programs each takes from the
 * object. Private to bpf/.
 */
#ifndef BPF_LEVELS_H
#define BPF_LEVELS_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/load.h"

/* One way of hanging on system calls. */
struct scribe_bpf_level_row {
	enum scribe_bpf_level level;
	const char *name;  /* as in the key `attach` */
	bool probe_reads;  /* kernel memory by bpf_probe_read_kernel(), as before Linux 6.2 */
	const char *enter; /* its programs */
	const char *leave;
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
/*
 * Have the level's programs loaded with the object, those of processes and those of io_uring that
 * this kernel has. `preempted`: those of processes and io_uring would be, so that trace events take their
 * place where they can; `nobody_joins`: but what is enrolled by name.
 */
int scribe_bpf_level_choose(const struct scribe_bpf_level_row *row, struct bpf_object *object,
			    const struct btf *btf, bool preempted, bool nobody_joins);
/* A link of a program to what it is for; negative: error. */
int scribe_bpf_attach_program(const char *program, int fd);

/*
 * The i-th level to try when none is asked for, NULL behind the last: those first whose
 * programs are never skipped here.
 */
const struct scribe_bpf_level_row *scribe_bpf_level_in_order(size_t i, bool preempts);

/* ---- preempt.c ---- */
/* Does this kernel preempt code of its own, so that it has to be tried? */
bool scribe_bpf_may_preempt(void);
/* Which programs of raw and typed tracepoints can be preempted on this kernel. */
struct scribe_preempted {
	bool calls;  /* those of the system calls' */
	bool others; /* those of processes and io_uring */
};
struct scribe_preempted scribe_bpf_preempts(const struct btf *btf);

#endif
