/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for modules in plain code, which register with the given core; each is a row in module_table.c. */
#ifndef RUNTIME_CORE_MODULE_OPS_H
#define RUNTIME_CORE_MODULE_OPS_H

#include "runtime/core/module.h"

/* A process of the core's rank that has ended. */
struct scribe_module_process {
	int32_t pid;
	int32_t status;    /* wait status */
	double start, end; /* seconds since the job's start */
	const char *exe;   /* NULL: not known */
	uint64_t operations, bytes_read, bytes_written;
};

/* A file with a record in the log. */
struct scribe_module_file {
	uint64_t id;
	const char *name;
	const void *attribute; /* value of the requested extended attribute: not trusted */
	size_t attribute_bytes;
};

/* Ranks and processes at run time, or files when a log is made (static modules). */
struct scribe_module_ops {
	const char *name; /* as in key `modules` */
	int module;       /* SCRIBE_MOD_* for MOD_DISABLE; 0 none */
	bool standard;    /* on by default */
	/* May be NULL: */
	void (*rank_begin)(struct scribe_core *core);
	void (*process_end)(struct scribe_core *core, const struct scribe_module_process *process);
	void (*rank_end)(struct scribe_core *core);
	/*
	 * Files on file systems of type `fs_type` (mount table) with extended attribute `attribute`, read as
	 * the job's user when the name becomes known and again for the log; the last value counts. Called once
	 * per rank, and for files shared by all ranks with rank -1; the module registers here.
	 */
	const char *fs_type, *attribute;
	void (*files)(struct scribe_core *core, const struct scribe_module_file *file, size_t n);
};

#endif
