/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory in which a program counts the calls of its own streams and the data calls
 * of its MPI-IO files, shared with the daemon: one file in memory (memfd) a process image, made by the
 * program, whose pages come into being when touched. The program writes all but `taken`, `segments`
 * and the bytes beneath probes; the daemon believes nothing in it, reads by pread and never maps it. What the
 * kernel has said of a place (file, use) decides whose record its numbers go to.
 *
 * A place is free, then in use (`gen` has gone up), then closed (`closed` is
 * `gen`), and free again once the daemon has `taken` that use. The daemon may take
 * a use that is still open: the program then goes on in another place.
 */
#ifndef LOGFMT_RULES_STREAMS_H
#define LOGFMT_RULES_STREAMS_H

#include "logfmt/rules/heat_rules.h"
#include "logfmt/rules/posix_shard.h"

#define SCRIBE_SHM_COUNTERS_MAGIC 0x73637375u
#define SCRIBE_STREAM_HEATS  512u  /* tables of bytes over time: two a place, three where others use it */
#define SCRIBE_SHM_COUNTERS_MAX   8192u /* streams open at once, and closed ones not yet taken */

/*
 * What a program says of its streams, to the kernel programs alone:
 * fcntl(DESCRIPTOR, SCRIBE_ANNOUNCE, memory, place, use, what), refused with EINVAL or EBADF.
 */
#define SCRIBE_ANNOUNCE 0x53637374

/*
 * Last argument of an openat that creates nothing, which the kernel ignores: what a library of ours
 * opens, and what becomes of it, is not the program's.
 */
#define SCRIBE_OPEN_OWN 0x53636f77

enum scribe_announce_use {
	SCRIBE_ANNOUNCE_OPENING = 1, /* what this thread opens next is a stream's */
	SCRIBE_ANNOUNCE_OPENED,      /* no longer */
	SCRIBE_ANNOUNCE_COUNTED,       /* the descriptor's stream is counted in a place from now on */
	SCRIBE_ANNOUNCE_STANDARD,    /* so is a standard stream, the first argument: whatever it leads to */
};
#define SCRIBE_STANDARD_STREAMS 3u

/*
 * Shards of a place. Each call of the owner is added to OWN, whose lock is odd
 * meanwhile, and then to AGAIN: one of the two is whole at any moment, also when
 * the program is killed in between.
 */
enum scribe_stream_shard {
	SCRIBE_SHARD_OWNER,
	SCRIBE_SHARD_SHARED, /* of everybody else, changed atomically */
	SCRIBE_SHARD_OWNER_SHADOW,
	SCRIBE_STREAM_SHARDS
};

struct scribe_counter_slot {
	scribe_s64 pos;   /* of the program in the stream, bytes; negative: not known */
	scribe_u64 owner; /* of shard[0], a word of the thread */
	scribe_u64 cursor; /* address in the program: of the file's cursor, which all places of a file share */
	struct scribe_posix_shard shard[SCRIBE_STREAM_SHARDS];
	struct scribe_heat heat[SCRIBE_STREAM_SHARDS];
} __attribute__((aligned(64)));

/* What the place of an MPI-IO file has beside, by the same shards. */
struct scribe_stream_more {
	struct scribe_ext_shard ext[SCRIBE_STREAM_SHARDS];
	struct scribe_value_table access[SCRIBE_STREAM_SHARDS]; /* sizes beyond the four of the shard */
	scribe_u32 lock;                                        /* of everybody else's table */
	scribe_u32 pad;
};

/*
 * Operations on MPI-IO files (DXT) and streams one by one: a ring is one thread's. What finds no room is
 * counted there, or, of threads beyond the last ring, in `unringed`. Before the daemon has said whether it
 * wants them those on files are kept.
 */
#define SCRIBE_SHM_RINGS         32u
#define SCRIBE_SHM_RING_SEGMENTS 8192u

enum scribe_shm_wish {
	SCRIBE_SEGMENTS_UNSAID,
	SCRIBE_SEGMENTS_WANTED,
	SCRIBE_SEGMENTS_UNWANTED,
	SCRIBE_SEGMENTS_STREAMS_TOO,
};

/* Beside SCRIBE_OP_READ and SCRIBE_OP_WRITE, of streams. */
#define SCRIBE_SHM_OP_OPEN  2u
#define SCRIBE_SHM_OP_FLUSH 3u

struct scribe_shm_segment {
	scribe_s64 offset; /* in the file, bytes; -1: not known */
	scribe_u64 bytes;
	scribe_u64 start_ns, end_ns; /* CLOCK_MONOTONIC */
	scribe_u32 entry, gen;       /* whose record it is */
	scribe_u32 op;               /* SCRIBE_OP_READ, SCRIBE_OP_WRITE, SCRIBE_SHM_OP_... */
	scribe_u32 pad;
};

struct scribe_shm_ring {
	scribe_u64 owner; /* a word of the thread, 0: nobody's yet */
	scribe_u64 put;   /* segments ever written, */
	scribe_u64 taken; /* and taken, by the daemon */
	scribe_u64 lost;  /* of operations for which there was no room */
} __attribute__((aligned(64)));

struct scribe_shm_counters {
	scribe_u32 magic;
	scribe_u32 id;      /* of this memory among those of the process */
	scribe_u32 used;    /* places that were ever in use */
	scribe_u32 unsized; /* calls of streams not counted: what they moved is known to the kernel only */
	scribe_u32 lost;    /* calls of files that found none, where nobody else counts them */
	scribe_u32 untimed; /* calls counted when the program allowed no clock */
	scribe_u64 made_ns; /* CLOCK_MONOTONIC */
	scribe_u64 heat_base_ns; /* by the daemon: bins of bytes over time begin here; 0: at made_ns */
	scribe_u32 heats;        /* tables asked for; a place keeps its own */
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
