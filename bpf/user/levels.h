/* SPDX-License-Identifier: BSD-3-Clause */
/* Attach modes, strongest first, and their programs. Private to bpf/. */
#ifndef BPF_USER_LEVELS_H
#define BPF_USER_LEVELS_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/user/load.h"

struct scribe_bpf_level_row {
	enum scribe_bpf_level level;
	const char *name; /* as in the key `bpf_attach_mode` */
	bool probe_reads; /* bpf_probe_read_kernel(), as before Linux 6.2 */
	const char *enter_program;
	const char *exit_program;
	const char *kfunc; /* required, NULL none */
	bool whole;        /* never interrupted, even on preempting kernels */
};

extern const struct scribe_bpf_level_row scribe_bpf_levels[];
extern const size_t scribe_bpf_nlevels;

/* NULL: no such level. */
const struct scribe_bpf_level_row *scribe_bpf_level_row(enum scribe_bpf_level level);
/* By the kernel's types. */
bool scribe_bpf_level_fits(const struct scribe_bpf_level_row *row, const struct btf *btf);
int scribe_bpf_level_event(const struct scribe_bpf_level_row *row);

/* Where programs on tracepoints can be preempted (preempt.c). */
struct scribe_preempted {
	bool calls;          /* at system calls */
	bool process_events; /* for processes and io_uring */
	bool events;         /* then: trace events, never preempted, are available */
};
/* Whether the kernel skips programs of this level, so that calls are lost. */
bool scribe_bpf_level_skips(const struct scribe_bpf_level_row *row, struct scribe_preempted preempted);
/*
 * Enables the level's programs and the fitting ones for processes and io_uring; trace events replace these
 * where they can be preempted.
 */
int scribe_bpf_level_choose(const struct scribe_bpf_level_row *row, struct bpf_object *object, const struct btf *btf,
			    struct scribe_preempted preempted, bool nobody_joins);
/*
 * Enables the programs on the page cache that fit, without `events` none. Returns what is shown, as in struct
 * scribe_ctl, `cache`.
 */
uint32_t scribe_bpf_cache_choose(struct bpf_object *object, const struct btf *btf, struct scribe_preempted preempted,
				 bool events);
/* What a program of these shows; 0: another program. Without one of these the log has unknown counters. */
uint32_t scribe_bpf_cache_bits(const char *program);
/* A link's descriptor, or a negative errno. */
int scribe_bpf_attach_program(const char *program, int fd);

/* The i-th level to try in mode auto, NULL at the end. */
const struct scribe_bpf_level_row *scribe_bpf_level_in_order(size_t i, struct scribe_preempted preempted);

bool scribe_bpf_may_preempt(void);
struct scribe_preempted scribe_bpf_preempts(const struct btf *btf);

#endif
