/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The single-region layout: header, base record, and the region with the job record and the
 * table of modules. docs/format.md describes it byte by byte. Private to logfmt/.
 */
#ifndef LOGFMT_FILE_UNIFIED_H
#define LOGFMT_FILE_UNIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/log_types.h"

#define SCRIBE_UNIFIED_MAGIC "IOSCRIB" /* with its NUL the file's first 8 bytes */
#define SCRIBE_UNIFIED_VERSION 1
#define SCRIBE_UNIFIED_COLUMNS 1 /* filter: blocks of transposed records, blocks.h */
#define SCRIBE_UNIFIED_SORTED 1u /* flag: modules ascend over the whole region of records */

struct scribe_unified_header {
	char magic[8];
	int64_t order;    /* SCRIBE_LOG_MAGIC in the writer's byte order */
	uint32_t version; /* of the layout */
	uint8_t comp_type; /* enum scribe_compression, of all regions */
	uint8_t filter;    /* of records: 0, or SCRIBE_UNIFIED_COLUMNS */
	uint16_t flags;
	uint64_t names_bytes, records_bytes, job_bytes; /* in the file, in this order */
};

/* What stands before the `bytes` bytes of every record. */
struct scribe_unified_base {
	uint64_t id;
	int64_t rank;
	uint64_t bytes;
	uint16_t module, flags;
	uint32_t version;
};
#define SCRIBE_UNIFIED_OPAQUE 1u /* flag: the module's own encoding, of which nothing is known here */

_Static_assert(sizeof(struct scribe_unified_header) == SCRIBE_UNIFIED_HEADER_BYTES,
	       "header of the single-region layout");
_Static_assert(sizeof(struct scribe_unified_base) == 32, "base record of the single-region layout");

/* Flags of a module in the table. */
#define SCRIBE_UNIFIED_PARTIAL 1u /* records of it were lost */
#define SCRIBE_UNIFIED_RECORDS 2u /* it has records in this log */
#define SCRIBE_UNIFIED_OWN_CODE 4u /* which are opaque */

#define SCRIBE_UNIFIED_JOB_BYTES (1u << 20) /* plain bytes of job record and table, at most */
#define SCRIBE_UNIFIED_COUNTERS 4096        /* counters of a module, at most */
#define SCRIBE_UNIFIED_NAME_BYTES 64        /* name of a module or counter, with its NUL, at most */
#define SCRIBE_UNIFIED_CHUNK (1u << 20)     /* plain bytes of an opaque record of a module that nobody knows */

/* Is this the beginning of such a log? */
bool scribe_unified_is(const void *bytes, size_t len);
/*
 * Check the first `len` bytes of a log of info->file_bytes bytes. Fills *info, the maps of *ret_header that
 * are known by now (names) and *ret_records, where records lie.
 */
int scribe_unified_decode(const char *label, const void *bytes, size_t len, struct scribe_log_header *ret_header,
			  struct scribe_log_map *ret_records, bool *ret_sorted, bool *ret_columns,
			  struct scribe_reader_info *info, struct scribe_err *err);

/* Modules of a log's table that this library does not know; the table's text is theirs. */
struct scribe_unified_table {
	struct scribe_module *modules[SCRIBE_MAX_MODULES]; /* NULL where known, or not in the log */
};

/*
 * The table of modules, `len` plain bytes: versions, partial flags and maps (`records` for who has records) go
 * into *header, unknown modules into *info and *table, which is to be freed also after a failure.
 */
int scribe_unified_table_decode(const char *label, const void *bytes, size_t len,
				const struct scribe_log_map *records, struct scribe_log_header *header,
				struct scribe_reader_info *info, struct scribe_unified_table *table,
				struct scribe_err *err);
void scribe_unified_table_free(struct scribe_unified_table *table);

/*
 * A table entry into `out`; returns the bytes needed, and writes nothing where `cap` is smaller. `m`: what the
 * module is; NULL: nothing but its id is known, `label` names it.
 */
size_t scribe_unified_entry_encode(int id, const struct scribe_module *m, const char *label, unsigned version,
				   unsigned flags, void *out, size_t cap);

#endif
