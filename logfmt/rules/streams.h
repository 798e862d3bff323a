/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory in which a program counts the calls of its own streams and the data calls
 * of its MPI-IO files, shared with the daemon: one file in memory (memfd) a process image, made by the
 * program, whose pages come into being when touched. The program writes all but `taken` and the bytes beneath
 * probes; the daemon believes nothing in it, reads by pread and never maps it. What the kernel has said of a
 * place (file, use) decides whose record its numbers go to.
 *
 * A place is free, then in use (`gen` has gone up), then closed (`closed` is
 * `gen`), and free again once the daemon has `taken` that use. The daemon may take
 * a use that is still open: the program then goes on in another place.
 */
#ifndef LOGFMT_RULES_STREAMS_H
#define LOGFMT_RULES_STREAMS_H

#include "logfmt/rules/posix_part.h"

#define SCRIBE_STREAMS_MAGIC 0x73637374u
#define SCRIBE_STREAMS_MAX   8192u /* streams open at once, and closed ones not yet taken */

/*
 * Parts of a place. Each call of the owner is added to OWN, whose lock is odd
 * meanwhile, and then to AGAIN: one of the two is whole at any moment, also when
 * the program is killed in between.
 */
enum scribe_stream_part {
	SCRIBE_PART_OWN,
	SCRIBE_PART_OTHERS, /* of everybody else, changed atomically */
	SCRIBE_PART_AGAIN,
	SCRIBE_STREAM_PARTS
};

struct scribe_stream {
	scribe_s64 pos;   /* of the program in the stream, bytes; negative: not known */
	scribe_u64 owner; /* of part[0], a word of the thread */
	scribe_u64 cursor; /* address in the program: of the file's cursor, which all places of a file share */
	struct scribe_posix_part part[SCRIBE_STREAM_PARTS];
} __attribute__((aligned(64)));

/* What the place of an MPI-IO file has beside, by the same parts. */
struct scribe_stream_more {
	struct scribe_ext_part ext[SCRIBE_STREAM_PARTS];
	struct scribe_value_table access[SCRIBE_STREAM_PARTS]; /* sizes beyond the four of the part */
	scribe_u32 lock;                                       /* of everybody else's table */
	scribe_u32 pad;
};

/* A byte of the MPI library's code where a probe stands now. */
struct scribe_probe_byte {
	scribe_u64 vaddr;
	scribe_u64 was;
};
#define SCRIBE_PROBE_BYTES_MAX 255u

struct scribe_streams {
	scribe_u32 magic;
	scribe_u32 id;      /* of this memory among those of the process */
	scribe_u32 used;    /* places that were ever in use */
	scribe_u32 full;    /* streams that found no place */
	scribe_u32 lost;    /* calls of files that found none, where nobody else counts them */
	scribe_u32 pad;
	scribe_u64 made_ns; /* CLOCK_MONOTONIC */
	scribe_u32 gen[SCRIBE_STREAMS_MAX];
	scribe_u32 closed[SCRIBE_STREAMS_MAX];
	scribe_u32 taken[SCRIBE_STREAMS_MAX]; /* by the daemon */
	struct scribe_stream stream[SCRIBE_STREAMS_MAX];
	struct scribe_stream_more more[SCRIBE_STREAMS_MAX];
	/* by the daemon: the probes that only calls counted here would meet, their number last */
	struct scribe_probe_byte byte[SCRIBE_PROBE_BYTES_MAX];
	scribe_u64 nbytes;
};

#endif
