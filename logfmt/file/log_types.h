/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers and writers of logs share. */
#ifndef LOGFMT_FILE_LOG_TYPES_H
#define LOGFMT_FILE_LOG_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/records.h"

#define SCRIBE_MAX_NAME_BYTES   (1u << 20)
#define SCRIBE_MAX_RECORD_BYTES 0xfffff000u /* 107 million traced operations with threads */
#define SCRIBE_MAX_MOUNTS       1024
#define SCRIBE_STAND_IN_BYTES   1024 /* of a name with a NUL, as escaped for readers of C strings */

/* docs/format.md */
enum scribe_layout {
	SCRIBE_LAYOUT_DEFAULT, /* Darshan's: a region per module */
	SCRIBE_LAYOUT_UNIFIED, /* one region for all records */
};

#define SCRIBE_UNIFIED_HEADER_BYTES 48

struct scribe_mount {
	const char *type; /* "ext4" */
	const char *path; /* "/home" */
};

/* Any bytes; callers must use `len`, although a NUL follows. */
struct scribe_name {
	uint64_t id;
	const char *bytes;
	size_t len;
};

struct scribe_reader_info {
	unsigned version; /* log version x 100: 300, 310, 320, 321, 341 */
	bool swapped;     /* the other byte order */
	int comp_type;    /* enum scribe_compression */
	uint64_t file_bytes;
	uint64_t job_off, job_len; /* in the file */
	uint64_t unknown;          /* bit per module with data that this library cannot read */
	uint64_t opaque;           /* single-region layout: of those, with records that can only be read raw */
	int layout;                /* enum scribe_layout */
	uint64_t records_len;      /* single-region layout: bytes of all records in the file */
};

struct scribe_writer_options {
	enum scribe_compression compression; /* 0: zlib */
	int level;                           /* 1 to 9; 0: default (zlib 7, bzip2 9, zstd 6) */
	bool list_own;    /* list modules from 48 on in the header, not in a trailer; stock readers do not know them */
	bool dxt_threads; /* 40-byte DXT segments with thread ids, which stock 3.5.0 readers refuse */
	enum scribe_layout layout;
	bool rows; /* single-region layout: not transposed even if compressed, which takes 1/0.6 of the bytes */
};

/* Some segments of a DXT record. */
struct scribe_dxt_piece {
	struct scribe_dxt_head {
		struct scribe_base_record base;
		int64_t shared_record;
		char hostname[64];
		int64_t write_count, read_count;
	} head;        /* as in struct scribe_dxt_record */
	int64_t first; /* index of the first segment; 0: the record's first piece */
	int64_t n;     /* 0: a record without segments */
	const struct scribe_dxt_segment *segments;
};

#endif
