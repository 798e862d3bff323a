/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers and writers of logs share: limits, mounts, names, what a log is. */
#ifndef LOGFMT_FILE_LOG_TYPES_H
#define LOGFMT_FILE_LOG_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/records.h"

#define SCRIBE_MAX_NAME_BYTES (1u << 20)     /* longest name read */
#define SCRIBE_MAX_RECORD_BYTES 0xfffff000u  /* longest record read: 107 million traced operations with threads */
#define SCRIBE_MAX_MOUNTS 1024
#define SCRIBE_STAND_IN_BYTES 1024           /* room for the escape of a name with a NUL, for readers that need one */

/* How a log is laid out: docs/format.md. */
enum scribe_layout {
	SCRIBE_LAYOUT_DEFAULT, /* Darshan's: a region for each module */
	SCRIBE_LAYOUT_UNIFIED, /* one region for the records of all modules */
};

#define SCRIBE_UNIFIED_HEADER_BYTES 48

struct scribe_mount {
	const char *type; /* "ext4" */
	const char *path; /* "/home" */
};

/* A record's name: any bytes; not NUL-terminated by contract (but followed by a NUL). */
struct scribe_name {
	uint64_t id;
	const char *bytes;
	size_t len;
};

struct scribe_reader_info {
	unsigned version;       /* log version x 100: 300, 310, 320, 321, 341 */
	bool swapped;           /* written on a machine of the other byte order */
	int comp_type;          /* enum scribe_compression */
	uint64_t file_bytes;
	uint64_t job_off, job_len; /* bytes in the file */
	uint64_t unknown;       /* bit i: module i has data this library cannot read; skipped */
	uint64_t opaque;        /* single-region layout: of those, whose bytes nobody can take apart: raw only */
	int layout;             /* enum scribe_layout */
	uint64_t records_len;   /* single-region layout: bytes in the file of all modules' records */
};

/* How a writer writes. */
struct scribe_writer_options {
	enum scribe_compression compression; /* 0: zlib */
	int level;        /* 0: the default (zlib 7, bzip2 9, zstd 6); else 1 to 9 */
	bool list_own;    /* list our own modules in the header, where stock readers meet ids that
	                     they do not know; else only in a trailer */
	bool dxt_threads; /* write 40-byte DXT segments (DXT_POSIX 2, DXT_MPIIO 3), which stock
	                     3.5.0 readers refuse; else thread ids are left out */
	enum scribe_layout layout; /* 0: Darshan's. The other takes no note of list_own */
	bool rows;        /* single-region layout: records one after another also where they are compressed;
	                     else transposed byte by byte, which takes 0.6 of the bytes */
};

/* Some segments of a record of extended tracing. */
struct scribe_dxt_piece {
	struct scribe_dxt_head {
		struct scribe_base_record base;
		int64_t shared_record;
		char hostname[64];
		int64_t write_count, read_count;
	} head;        /* as struct scribe_dxt_record begins */
	int64_t first; /* which of its segments this piece begins with: 0 in the first one of a record */
	int64_t n;     /* 0 only where the record has none */
	const struct scribe_dxt_segment *segments;
};

#endif
