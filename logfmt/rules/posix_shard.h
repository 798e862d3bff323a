/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's state of one file of one process: a cursor shared by threads, and shards that can be added.
 * Times: ns of CLOCK_MONOTONIC.
 */
#ifndef LOGFMT_RULES_POSIX_SHARD_H
#define LOGFMT_RULES_POSIX_SHARD_H

#include "logfmt/rules/types.h"

#define SCRIBE_SIZE_BUCKETS 10
#define SCRIBE_TOP_VALUES   4  /* in the shard */
#define SCRIBE_TABLE_VALUES 32 /* a power of two */
#define SCRIBE_TABLE_LIMIT  28 /* values in use: with the four, Darshan's 32 */

enum scribe_op_class { SCRIBE_OP_READ = 0, SCRIBE_OP_WRITE = 1, SCRIBE_OP_META = 2, SCRIBE_OP_NONE = 3 };

struct scribe_value {
	scribe_s64 value; /* bytes; 0: empty */
	scribe_u64 count;
};

/* Values beyond the shard's four. */
struct scribe_value_table {
	scribe_u32 used; /* at most SCRIBE_TABLE_LIMIT */
	scribe_u32 pad;
	scribe_u64 dropped; /* operations with a new value while full */
	struct scribe_value v[SCRIBE_TABLE_VALUES];
};

/* Position in the file, changed atomically. */
struct scribe_cursor {
	scribe_s64 last_byte[2]; /* READ, WRITE: of the previous operation */
	scribe_u64 last_end[3];  /* READ, WRITE, META: latest, ns */
	scribe_u32 last_op;      /* 1 + class of the previous operation */
	scribe_u32 pad;
};

#define SCRIBE_EXT_COUNTERS(X) \
	X(UNLINKS, "unlink, unlinkat of the name") \
	X(MKDIRS, "mkdir, mkdirat") \
	X(RMDIRS, "rmdir, unlinkat of a directory") \
	X(LINKS, "link, linkat: counted at the new name") \
	X(SYMLINKS, "symlink, symlinkat: counted at the new name") \
	X(READLINKS, "readlink, readlinkat") \
	X(ACCESSES, "access, faccessat, faccessat2 that returned 0") \
	X(TRUNCATES, "truncate, ftruncate") \
	X(FALLOCATES, "fallocate") \
	X(FADVISES, "fadvise64, readahead") \
	X(GETDENTS, "getdents64: counted at the directory") \
	X(STATFS, "statfs, fstatfs") \
	X(XATTR_READS, "getxattr and listxattr families") \
	X(XATTR_WRITES, "setxattr and removexattr families") \
	X(SYNC_RANGES, "sync_file_range") \
	X(MSYNCS, "msync of a mapping of the file") \
	X(SPLICES, "sendfile, splice, copy_file_range, FICLONE and its kin on the file") \
	X(AIO_OPS, "reads and writes by libaio (also in the POSIX record)") \
	X(URING_OPS, "reads and writes by io_uring (also in the POSIX record)") \
	X(FAILED_DATA, "reads and writes that returned an error") \
	X(FAILED_META, "other calls on the open file that returned an error") \
	X(CREATES, "opens and mknods that created the file") \
	X(CLOSES, "closes of descriptors of the file") \
	X(MAPPED_BYTES, "bytes of the mappings of the file; what moves through them: CACHE_BYTES_FAULTED")

#define SCRIBE_EXT_TIMES(X) \
	X(CLOSE_NS, "time in close (also in POSIX_F_META_TIME)") \
	X(META_NS, "time in the calls counted only in this record")

/* After a record's other integers. Not in shards, because the kernel does not know ranks. */
#define SCRIBE_EXT_RANKS(X) \
	X(RANKS_READ, "ranks that have read the file: of a shared record how many, else 1 or 0") \
	X(RANKS_WROTE, "ranks that have written the file: of a shared record how many, else 1 or 0")

enum scribe_ext_id {
#define SCRIBE_X(name, text) SCRIBE_EXT_##name,
	SCRIBE_EXT_COUNTERS(SCRIBE_X) SCRIBE_EXT_TIMES(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_EXT_COUNT
};

struct scribe_ext_shard {
	scribe_u64 v[SCRIBE_EXT_COUNT];
};

struct scribe_posix_shard {
	scribe_u32 lock;         /* odd: being written; readers retry */
	scribe_u32 access_table; /* 1 + index; 0: none */
	scribe_u32 stride_table;
	scribe_u32 pad;
	scribe_u64 events;
	/* Fields of open and close are together, because a new record is not in the cache. */
	scribe_u64 opens;
	scribe_u64 busy_ns[3]; /* READ, WRITE, META: without overlap */
	scribe_u64 open_start, open_end, close_start, close_end;
	scribe_u64 dups, seeks, stats, mmaps, fsyncs, fdsyncs;
	scribe_u64 rename_sources, rename_targets;
	scribe_u64 ops[2], bytes[2], max_byte[2]; /* READ, WRITE, as below */
	scribe_u64 consec[2], seq[2];
	scribe_u64 rw_switches, mem_not_aligned, file_not_aligned;
	scribe_u64 max_ns[2], max_ns_size[2];
	scribe_u64 size[2][SCRIBE_SIZE_BUCKETS];
	scribe_u64 start[2], end[2]; /* first, latest */
	struct scribe_value access[SCRIBE_TOP_VALUES];
	struct scribe_value stride[SCRIBE_TOP_VALUES];
};

#endif
