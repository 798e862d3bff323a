/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module interface: what an instrumentation module needs of ioscribe, in
 * one header. It is the published modularization interface (register a module,
 * register its records, give them back at shutdown) with one argument more: the
 * core, which stands for one rank of one log.
 *
 * Where a module's numbers come from is its own affair. Fed by kernel programs
 * or probes: it registers at drain and fills records from what the kernel kept
 * (runtime/daemon/output/log_commit.c does so for POSIX). Fed by plain user code: it is a
 * row of the table in runtime/core/module_table.c and is called when processes and
 * ranks begin and end (runtime/core/null_module.c). docs/adding-a-module.md
 * goes through one step by step.
 */
#ifndef RUNTIME_CORE_MODULE_H
#define RUNTIME_CORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_core;

/*
 * A module's last word, once a rank, before its records go to the log.
 *   buf         in: the module's records, one behind the other in the order of
 *               registration; out: may be set to memory of the module's own,
 *               which must stay until the core is freed
 *   buf_bytes   in: bytes registered; out: bytes to be written: less where
 *               records are dropped
 * Records of modules that logfmt can reduce (struct scribe_module, `reduces`) are reduced after
 * it; a module's own reduction is a function of two records (logfmt/records/join.h).
 */
typedef void (*scribe_module_shutdown)(struct scribe_core *core, void **buf, size_t *buf_bytes);

/*
 * Contribute to the log as module `id` (logfmt/counters/records.h). Once a module.
 *   inout_bytes  in: memory wanted for records; out: memory granted, maybe less
 *   ret_rank     the rank in MPI_COMM_WORLD; NULL ignores
 *   ret_mem_alignment  bytes a buffer must be aligned to, to count as aligned;
 *                only modules that look at addresses of buffers need it; NULL ignores
 * 0, -EINVAL for an impossible id, -EEXIST when registered, -ENOMEM when no
 * memory is left at all.
 */
int scribe_core_register_module(struct scribe_core *core, int id, scribe_module_shutdown shutdown,
				size_t *inout_bytes, int *ret_rank, int *ret_mem_alignment);
/* Contribute nothing after all. Records registered so far are dropped. */
void scribe_core_unregister_module(struct scribe_core *core, int id);

/* The rank this core stands for. */
int64_t scribe_core_rank(const struct scribe_core *core);
/* The record id of a name: the same everywhere, in every module. */
uint64_t scribe_core_gen_record_id(const char *name);
/* The same for a name of any bytes: an object id of a storage system, for instance. */
uint64_t scribe_core_gen_object_id(const void *name, size_t len);

/* File system that an absolute path lies on, as far as the mount table tells. */
struct scribe_fs_info {
	const char *type;    /* "ext4"; NULL unknown */
	const char *mount;   /* "/home"; NULL unknown */
	int64_t block_bytes; /* preferred block size, 0 unknown */
};

/*
 * Room for one record of `bytes` bytes, zeroed, aligned to 8; to be filled by
 * the module, at any time until shutdown, beginning with its base record (id,
 * rank). Once a record.
 *   name     goes into the log's name table; NULL: an anonymous record
 *   ret_fs   file system of `name`; NULL ignores
 * NULL when the module's memory is out (the log then carries the module's
 * partial flag) or the module is not registered.
 */
void *scribe_core_register_record(struct scribe_core *core, uint64_t id, const char *name, int module,
				  size_t bytes, struct scribe_fs_info *ret_fs);
/*
 * The same for an object: its name is `len` bytes of any values, NULs among them
 * (at most SCRIBE_MAX_NAME_BYTES, logfmt/file/reader.h). It survives in the log as it
 * is; tools that print show its escape.
 */
void *scribe_core_register_object(struct scribe_core *core, uint64_t id, const void *name, size_t len,
				  int module, size_t bytes);

/*
 * The record registered under this id, to go on filling it; NULL when there is
 * none. Looks through the module's records one by one: a module with many keeps
 * addresses itself.
 */
void *scribe_core_find_record(const struct scribe_core *core, uint64_t id, int module);

/* Seconds since the start of the job: the clock of every record. */
double scribe_core_wtime(const struct scribe_core *core);
/* 1 when this absolute path is excluded from the log. */
int scribe_core_excluded_path(const struct scribe_core *core, const char *path);
/*
 * Absolute path without "//", "/./" and "/../", relative ones below the working
 * directory; links are not followed. The caller frees; NULL: memory is out.
 */
char *scribe_clean_path(const char *path);

#endif
