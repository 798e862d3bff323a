/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_UNIFIED_H
#define LOGFMT_FILE_UNIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/log_types.h"

#define SCRIBE_UNIFIED_MAGIC   "IOSCRIB" /* with NUL */
#define SCRIBE_UNIFIED_VERSION 1
#define SCRIBE_UNIFIED_COLUMNS 1  /* filter: transposed, blocks.h */
#define SCRIBE_UNIFIED_SORTED  1u /* flag: modules ascend */

struct scribe_unified_header {
	char magic[8];
	int64_t order;     /* SCRIBE_LOG_MAGIC in the writer's byte order */
	uint32_t version;  /* of the layout */
	uint8_t comp_type; /* enum scribe_compression */
	uint8_t filter;    /* of records: 0 or SCRIBE_UNIFIED_COLUMNS */
	uint16_t flags;
	uint64_t names_bytes, records_bytes, job_bytes; /* in this order */
};

/* Precedes the `bytes` bytes of each record. */
struct scribe_unified_base {
	uint64_t id;
	int64_t rank;
	uint64_t bytes;
	uint16_t module, flags;
	uint32_t version;
};
#define SCRIBE_UNIFIED_OPAQUE 1u /* flag: the module's encoding, unknown here */

_Static_assert(sizeof(struct scribe_unified_header) == SCRIBE_UNIFIED_HEADER_BYTES,
	       "header of the single-region layout");
_Static_assert(sizeof(struct scribe_unified_base) == 32, "base record of the single-region layout");

/* Flags of a module in the table. */
#define SCRIBE_UNIFIED_PARTIAL  1u /* records were lost */
#define SCRIBE_UNIFIED_RECORDS  2u /* the log has records */
#define SCRIBE_UNIFIED_OWN_CODE 4u /* they are opaque */

/* Limits: plain bytes of job record and table; counters of a module; bytes of a name with NUL; of an opaque record. */
#define SCRIBE_UNIFIED_JOB_BYTES  (1u << 20)
#define SCRIBE_UNIFIED_COUNTERS   4096
#define SCRIBE_UNIFIED_NAME_BYTES 64
#define SCRIBE_UNIFIED_CHUNK      (1u << 20)

bool scribe_unified_is(const void *bytes, size_t len);
/* Needs info->file_bytes. Fills *info, the name map and *ret_records, the map of the region of records. */
int scribe_unified_decode(const char *label, const void *bytes, size_t len, struct scribe_log_header *ret_header,
			  struct scribe_log_map *ret_records, bool *ret_sorted, bool *ret_columns,
			  struct scribe_reader_info *info, struct scribe_err *err);

/* Unknown modules. */
struct scribe_unified_table {
	struct scribe_module *modules[SCRIBE_MAX_MODULES]; /* NULL: known or absent */
};

/* Sets versions, flags and maps (`records` for each) in *header. *table must be freed, also after a failure. */
int scribe_unified_table_decode(const char *label, const void *bytes, size_t len, const struct scribe_log_map *records,
				struct scribe_log_header *header, struct scribe_reader_info *info,
				struct scribe_unified_table *table, struct scribe_err *err);
void scribe_unified_table_free(struct scribe_unified_table *table);

/* Returns the size; writes only if `cap` allows. `m` NULL: an unknown module, named by `label`. */
size_t scribe_unified_entry_encode(int id, const struct scribe_module *m, const char *label, unsigned version,
				   unsigned flags, void *out, size_t cap);

#endif
