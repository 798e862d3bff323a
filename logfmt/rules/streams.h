/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory (a memfd per process image) in which a program counts calls of its streams and MPI-IO files. It writes
 * all but `taken`, `segments` and bytes of calls inside probes. The daemon trusts nothing in it: pread, never
 * mmap. The kernel reports which file a slot belongs to.
 */

/*
 * A slot is free, used (`gen` incremented), closed (`closed` equals `gen`), free again when `taken`. The daemon may
 * take an open use; the program then continues in another slot.
 */
#ifndef LOGFMT_RULES_STREAMS_H
#define LOGFMT_RULES_STREAMS_H

#include "logfmt/rules/heat_rules.h"
#include "logfmt/rules/posix_shard.h"

#define SCRIBE_SHM_COUNTERS_MAGIC 0x73637375u
#define SCRIBE_STREAM_HEATS       512u  /* tables: two per slot, three if other threads use it */
#define SCRIBE_SHM_COUNTERS_MAX   8192u /* streams open, or closed and not taken yet */

/* fcntl(DESCRIPTOR, SCRIBE_ANNOUNCE, memory, place, use, what) to the kernel programs; refused with EINVAL or EBADF. */
#define SCRIBE_ANNOUNCE 0x53637374

/* Last argument of an openat without O_CREAT: opened by a library of ioscribe, not counted. */
#define SCRIBE_OPEN_OWN 0x53636f77

enum scribe_announce_use {
	SCRIBE_ANNOUNCE_OPENING = 1, /* the thread's next open belongs to a stream */
	SCRIBE_ANNOUNCE_OPENED,      /* the end of that */
	SCRIBE_ANNOUNCE_COUNTED,     /* the descriptor's stream is counted in a slot */
	SCRIBE_ANNOUNCE_STANDARD,    /* also a standard stream (first argument), whatever its file */
};
#define SCRIBE_STANDARD_STREAMS 3u

/*
 * The owner adds each call to OWNER, with an odd lock, then to OWNER_SHADOW: one is always consistent, even if the
 * program is killed.
 */
enum scribe_stream_shard {
	SCRIBE_SHARD_OWNER,
	SCRIBE_SHARD_SHARED, /* of other threads, changed atomically */
	SCRIBE_SHARD_OWNER_SHADOW,
	SCRIBE_STREAM_SHARDS
};

struct scribe_counter_slot {
	scribe_s64 pos;    /* in the stream, bytes; negative: unknown */
	scribe_u64 owner;  /* identifies the thread */
	scribe_u64 cursor; /* address in the program of the file's cursor, shared by its slots */
	struct scribe_posix_shard shard[SCRIBE_STREAM_SHARDS];
	struct scribe_heat heat[SCRIBE_STREAM_SHARDS];
} __attribute__((aligned(64)));

/* For MPI-IO files, by the same shards. */
struct scribe_stream_more {
	struct scribe_ext_shard ext[SCRIBE_STREAM_SHARDS];
	struct scribe_value_table access[SCRIBE_STREAM_SHARDS]; /* sizes beyond the shard's four */
	scribe_u32 lock;                                        /* of the shared table */
	scribe_u32 pad;
};

/*
 * Single operations, in a ring per thread; those that do not fit are counted. Until `segments` is set,
 * operations on files are kept.
 */
#define SCRIBE_SHM_RINGS         32u
#define SCRIBE_SHM_RING_SEGMENTS 8192u

enum scribe_shm_wish {
	SCRIBE_SEGMENTS_UNSAID,
	SCRIBE_SEGMENTS_WANTED,
	SCRIBE_SEGMENTS_UNWANTED,
	SCRIBE_SEGMENTS_STREAMS_TOO,
};

/* For streams, in addition to SCRIBE_OP_READ and SCRIBE_OP_WRITE. */
#define SCRIBE_SHM_OP_OPEN  2u
#define SCRIBE_SHM_OP_FLUSH 3u

struct scribe_shm_segment {
	scribe_s64 offset; /* in the file, bytes; -1: unknown */
	scribe_u64 bytes;
	scribe_u64 start_ns, end_ns; /* CLOCK_MONOTONIC */
	scribe_u32 entry, gen;       /* of the record's slot */
	scribe_u32 op;               /* SCRIBE_OP_... or SCRIBE_SHM_OP_... */
	scribe_u32 pad;
};

struct scribe_shm_ring {
	scribe_u64 owner; /* identifies the thread; 0: free */
	scribe_u64 put;   /* segments written */
	scribe_u64 taken; /* segments read by the daemon */
	scribe_u64 lost;  /* segments that did not fit */
} __attribute__((aligned(64)));

struct scribe_shm_counters {
	scribe_u32 magic;
	scribe_u32 id;
	scribe_u32 used;
	scribe_u32 unsized;      /* stream calls not counted: only the kernel knows their bytes */
	scribe_u32 lost;         /* file calls without a slot, not counted elsewhere */
	scribe_u32 untimed;      /* calls counted without a clock */
	scribe_u64 made_ns;      /* CLOCK_MONOTONIC */
	scribe_u64 heat_base_ns; /* by the daemon: start of the bins; 0: made_ns */
	scribe_u32 heats;        /* tables requested */
	scribe_u32 pad2;
	scribe_u32 gen[SCRIBE_SHM_COUNTERS_MAX];
	scribe_u32 closed[SCRIBE_SHM_COUNTERS_MAX];
	scribe_u32 taken[SCRIBE_SHM_COUNTERS_MAX]; /* by the daemon */
	struct scribe_counter_slot stream[SCRIBE_SHM_COUNTERS_MAX];
	struct scribe_stream_more more[SCRIBE_SHM_COUNTERS_MAX];
	struct scribe_heat_table heat[SCRIBE_STREAM_HEATS];
	scribe_u32 segments; /* by the daemon: enum scribe_shm_wish */
	scribe_u32 unringed; /* operations of threads without a ring */
	struct scribe_shm_ring ring[SCRIBE_SHM_RINGS];
	struct scribe_shm_segment segment[SCRIBE_SHM_RINGS][SCRIBE_SHM_RING_SEGMENTS];
};

#endif
