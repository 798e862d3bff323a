/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a module that is fed by plain code is told. Such a source registers its module
 * and records with the core it is handed; it is a row of the table in module_table.c.
 */
#ifndef RUNTIME_CORE_MODULE_OPS_H
#define RUNTIME_CORE_MODULE_OPS_H

#include "runtime/core/module.h"

/* A process that counts to the core's rank, when it has ended. */
struct scribe_module_process {
	int32_t pid;
	int32_t status;    /* wait status */
	double start, end; /* seconds from the start of the job */
	const char *exe;   /* NULL unknown */
	uint64_t operations, bytes_read, bytes_written;
};

/* A file that the log has a record of, and what it says of itself. */
struct scribe_module_file {
	uint64_t id; /* of its records */
	const char *name;
	const void *attribute; /* the value of the extended attribute asked for: bytes to be distrusted */
	size_t attribute_bytes;
};

/*
 * A source is told of ranks and processes while they run, or, as a static
 * module, of files when a log is made.
 */
struct scribe_module_ops {
	const char *name; /* as in the configuration's `modules` */
	int module;       /* SCRIBE_MOD_* that MOD_DISABLE switches off; 0 none */
	bool standard;    /* on unless switched off */
	/* Any of these may be NULL. */
	void (*rank_begin)(struct scribe_core *core);
	void (*process_end)(struct scribe_core *core, const struct scribe_module_process *process);
	void (*rank_end)(struct scribe_core *core);
	/*
	 * Files on file systems of the type `fs_type`, as the mount table calls it,
	 * that have the extended attribute `attribute`. It is read with the identity
	 * of the job's user, when a file's name becomes known and again for the log;
	 * the newest answer counts. Called once a rank, and once for the files that
	 * all ranks share: the core stands for the rank -1 then. Such a source
	 * registers its module here.
	 */
	const char *fs_type, *attribute;
	void (*files)(struct scribe_core *core, const struct scribe_module_file *file, size_t n);
};

#endif
