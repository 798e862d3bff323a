/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the writer's files. */
#ifndef LOGFMT_FILE_WRITER_STATE_H
#define LOGFMT_FILE_WRITER_STATE_H

#include "logfmt/base/err.h"
#include "logfmt/file/log_types.h"
#include "logfmt/file/pack.h"
#include "logfmt/file/unified.h"

/* Modules are STAGE_MODULES + id. */
enum scribe_log_stage {
	STAGE_START,
	STAGE_JOB,
	STAGE_NAMES,
	STAGE_MODULES,
	STAGE_TABLE = STAGE_MODULES + SCRIBE_MAX_MODULES, /* single-region layout */
	STAGE_DONE
};

struct scribe_writer {
	int fd;
	char *path; /* removed unless finished; NULL: the caller's file */
	struct scribe_writer_options options;
	struct scribe_log_header header;
	int stage;
	int failed;
	uint64_t off; /* of the next bytes */
	uint64_t region_at;
	struct scribe_pack *pack; /* of the open region, or NULL */
	void *scratch;
	size_t scratch_capacity;
	char *exact; /* names with a NUL, as in the file */
	size_t exact_bytes, exact_capacity;
	const struct scribe_module *described[SCRIBE_MAX_MODULES]; /* by the caller */
	/* single-region layout */
	struct scribe_unified_header unified;
	void *job; /* plain, written at the end */
	size_t job_bytes;
	uint64_t present, opaque; /* bit per module */
	bool single;              /* the open module has a record of one rank: shared ones are refused */
	bool plain_name;          /* a name without NUL was written: those with NUL are refused */
	unsigned char *chunk;     /* of an opaque module */
	size_t chunk_have;
	unsigned char *block; /* two: records of one length, and transposed */
	size_t block_have, block_stride;
	struct scribe_err err;
};

static inline bool scribe_log_is_unified(const struct scribe_writer *w)
{
	return w->options.layout == SCRIBE_LAYOUT_UNIFIED;
}

#endif
