/* SPDX-License-Identifier: BSD-3-Clause */
/* One core per rank and log. Not thread safe. */
#ifndef RUNTIME_CORE_CORE_H
#define RUNTIME_CORE_CORE_H

#include "logfmt/file/reader.h"
#include "runtime/core/module.h"
#include "runtime/core/path_exclusions.h"

struct scribe_core_options {
	int64_t rank;
	size_t memory; /* for records of all modules; 0: no limit */
	int mem_alignment;
	uint64_t base_ns;                      /* CLOCK_MONOTONIC at the job's start */
	const struct scribe_exclusions *paths; /* borrowed; NULL: none */
	const struct scribe_mount *mounts;     /* borrowed, longest path first */
	size_t nmounts;
};

/* Of an absolute path; `mounts` has the longest path first. NULL: none. */
const struct scribe_mount *scribe_mount_of(const struct scribe_mount *mounts, size_t n, const char *path);

/* NULL: no memory. */
struct scribe_core *scribe_core_new(const struct scribe_core_options *options);
struct scribe_core *scribe_core_free(struct scribe_core *core);

/* Bit i: module i got less record memory than requested. */
uint64_t scribe_core_partial(const struct scribe_core *core);

/* Receives names, then modules in ascending order, their records in order. */
struct scribe_core_sink {
	int (*name)(void *ctx, uint64_t id, const char *name, size_t len); /* any bytes, with a NUL after them */
	int (*record)(void *ctx, int module, const void *rec, size_t bytes);
	void *ctx;
};

/* Calls every module's shutdown and passes its records on. Stops at the first negative return. */
int scribe_core_finish(struct scribe_core *core, const struct scribe_core_sink *sink);

#endif
