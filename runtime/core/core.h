/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry behind runtime/core/module.h, as its owner sees it: one core a
 * rank and log. Not thread safe; no MPI, no kernel.
 */
#ifndef RUNTIME_CORE_CORE_H
#define RUNTIME_CORE_CORE_H

#include "logfmt/file/reader.h"
#include "runtime/core/path_exclusions.h"
#include "runtime/core/module.h"

struct scribe_core_options {
	int64_t rank;
	size_t memory;                         /* bytes for records of all modules; 0: no limit */
	int mem_alignment;                     /* bytes */
	uint64_t base_ns;                      /* CLOCK_MONOTONIC at the start of the job */
	const struct scribe_exclusions *paths; /* borrowed; NULL: nothing is excluded */
	const struct scribe_mount *mounts;     /* borrowed, longest path first */
	size_t nmounts;
};

/* The mount that an absolute path lies on, of a table with the longest path first; NULL none. */
const struct scribe_mount *scribe_mount_of(const struct scribe_mount *mounts, size_t n, const char *path);

/* NULL: memory is out. */
struct scribe_core *scribe_core_new(const struct scribe_core_options *options);
/* NULL allowed; returns NULL. */
struct scribe_core *scribe_core_free(struct scribe_core *core);

/* Bit i: module i asked for more record memory than there was. */
uint64_t scribe_core_partial(const struct scribe_core *core);

/* What a core gives back: names, then modules ascending, records in order. */
struct scribe_core_sink {
	int (*name)(void *ctx, uint64_t id, const char *name, size_t len); /* any bytes, a NUL behind */
	int (*record)(void *ctx, int module, const void *rec, size_t bytes);
	void *ctx;
};

/* Call every module's shutdown and hand its records on. Stops at the first negative return. */
int scribe_core_finish(struct scribe_core *core, const struct scribe_core_sink *sink);

#endif
