/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer's own struct. Private to the writer's files. */
#ifndef LOGFMT_FILE_WRITER_STATE_H
#define LOGFMT_FILE_WRITER_STATE_H

#include "logfmt/base/err.h"
#include "logfmt/file/log_types.h"
#include "logfmt/file/pack.h"
#include "logfmt/file/unified.h"

/* Where the writer is; modules follow as STAGE_MODULES + id. */
enum scribe_log_stage {
	STAGE_START,
	STAGE_JOB,
	STAGE_NAMES,
	STAGE_MODULES,
	STAGE_TABLE = STAGE_MODULES + SCRIBE_MAX_MODULES, /* single-region layout: job record and modules */
	STAGE_DONE
};

struct scribe_writer {
	int fd;
	char *path; /* to be removed unless finished; NULL: the file is the caller's */
	struct scribe_writer_options options;
	struct scribe_log_header header;
	int stage;
	int failed;
	uint64_t off;       /* where the next bytes go */
	uint64_t region_at; /* start of the open region */
	struct scribe_pack *pack; /* of the open region, NULL: none is */
	void *scratch; /* a record on its way */
	size_t scratch_room;
	char *exact; /* names with a NUL, as they will stand in the file */
	size_t exact_bytes, exact_room;
	const struct scribe_module *described[SCRIBE_MAX_MODULES]; /* by the caller, NULL: not */
	/* single-region layout */
	struct scribe_unified_header unified;
	void *job; /* plain, until the end */
	size_t job_bytes;
	uint64_t present, opaque; /* modules */
	bool single;  /* a record of one rank stands in the open module: no shared one may follow */
	bool plain_name; /* a name without a NUL: none with one may follow */
	unsigned char *chunk; /* of an opaque module */
	size_t chunk_have;
	unsigned char *block; /* records of one length, to be transposed; then as much for what comes of it */
	size_t block_have, block_stride;
	struct scribe_err err;
};

static inline bool scribe_log_is_unified(const struct scribe_writer *w)
{
	return w->options.layout == SCRIBE_LAYOUT_UNIFIED;
}

#endif
