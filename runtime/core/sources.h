/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules fed by plain code: what they are told, and the table of them. A
 * source registers its module and records with the core it is handed.
 */
#ifndef RUNTIME_CORE_SOURCES_H
#define RUNTIME_CORE_SOURCES_H

#include "runtime/core/module.h"

/* A process that counts to the core's rank, when it has ended. */
struct scribe_source_process {
	int32_t pid;
	int32_t status;    /* wait status */
	double start, end; /* seconds from the start of the job */
	const char *exe;   /* NULL unknown */
	uint64_t operations, bytes_read, bytes_written;
};

struct scribe_source {
	const char *name; /* as in the configuration's `modules` */
	bool standard;    /* on unless switched off */
	/* Any of these may be NULL. */
	void (*rank_begin)(struct scribe_core *core);
	void (*process_end)(struct scribe_core *core, const struct scribe_source_process *process);
	void (*rank_end)(struct scribe_core *core);
};

/* All sources, ending with a NULL name. */
extern const struct scribe_source *const scribe_sources[];

/*
 * Is this source on, given the configured list ("A,B" switches on, "-A" off)?
 */
bool scribe_source_is_on(const struct scribe_source *source, const char *list);
/* A name in the list that no source has; NULL when all are known. Written to `ret`. */
const char *scribe_source_unknown(const char *list, char *ret, size_t cap);

extern const struct scribe_source scribe_source_null; /* null_module.c */

#endif
