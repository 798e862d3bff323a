/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of instrumentation modules: the published modularization interface with the core, one rank of
 * one log, as additional argument.
 *
 * Modules with numbers from kernel programs register at drain (POSIX: runtime/daemon/output/log_commit.c);
 * those in plain code are rows of runtime/core/module_table.c, called at start and end of processes and ranks
 * (runtime/core/null_module.c). See docs/adding-a-module.md.
 */
#ifndef RUNTIME_CORE_MODULE_H
#define RUNTIME_CORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_core;

/*
 * Called once per rank, before its records go to the log.
 *   buf        in: the module's records in order of registration; out: may be replaced by memory of the module
 *             that lives as long as the core
 *   buf_bytes  in: bytes registered; out: bytes to write, fewer to drop records
 * Records that logfmt can reduce (struct scribe_module, `reduces`) are reduced afterwards; a special reduction
 * is a function of two records (logfmt/records/join.h).
 */
typedef void (*scribe_module_shutdown)(struct scribe_core *core, void **buf, size_t *buf_bytes);

/*
 * Once per module `id` (logfmt/counters/records.h).
 *   inout_bytes        in: record memory requested; out: granted, maybe less
 *   ret_rank           in MPI_COMM_WORLD; may be NULL
 *   ret_mem_alignment  bytes, for modules that check buffer addresses; may be NULL
 * 0, -EINVAL: impossible id, -EEXIST: registered, -ENOMEM: no memory left.
 */
int scribe_core_register_module(struct scribe_core *core, int id, scribe_module_shutdown shutdown, size_t *inout_bytes,
				int *ret_rank, int *ret_mem_alignment);
/* Drops its records. */
void scribe_core_unregister_module(struct scribe_core *core, int id);

int64_t scribe_core_rank(const struct scribe_core *core);
/* By name: the same everywhere, in every module. */
uint64_t scribe_core_gen_record_id(const char *name);
/* For names of any bytes, as object ids of a storage system. */
uint64_t scribe_core_gen_object_id(const void *name, size_t len);

/* Of an absolute path, by the mount table. */
struct scribe_fs_info {
	const char *type;    /* "ext4"; NULL: not known */
	const char *mount;   /* "/home"; NULL: not known */
	int64_t block_bytes; /* preferred, 0: not known */
};

/*
 * A zeroed record of `bytes` bytes, aligned to 8, to be filled until shutdown, starting with its base record
 * (id, rank). Once per record.
 *   name    for the log's name table; NULL: anonymous
 *   ret_fs  of `name`; may be NULL
 * NULL: no memory (the log gets the module's partial flag) or not registered.
 */
void *scribe_core_register_record(struct scribe_core *core, uint64_t id, const char *name, int module, size_t bytes,
				  struct scribe_fs_info *ret_fs);
/*
 * For an object with a name of `len` bytes with any values, at most SCRIBE_MAX_NAME_BYTES
 * (logfmt/file/reader.h). Stored unchanged; tools print it escaped.
 */
void *scribe_core_register_object(struct scribe_core *core, uint64_t id, const void *name, size_t len, int module,
				  size_t bytes);

/* NULL: none. A linear search: modules with many records keep addresses. */
void *scribe_core_find_record(const struct scribe_core *core, uint64_t id, int module);

/* Seconds since the job's start, for all records. */
double scribe_core_wtime(const struct scribe_core *core);
int scribe_core_excluded_path(const struct scribe_core *core, const char *path);
/*
 * Absolute, without "//", "/./" and "/../", from the working directory if relative; links are not followed. The
 * caller frees it; NULL: no memory.
 */
char *scribe_clean_path(const char *path);

#endif
