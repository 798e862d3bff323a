/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the reader's files. */
#ifndef LOGFMT_FILE_READER_STATE_H
#define LOGFMT_FILE_READER_STATE_H

#include "logfmt/base/err.h"
#include "logfmt/file/framed.h"
#include "logfmt/file/log_types.h"
#include "logfmt/file/region_stream.h"
#include "logfmt/file/unified.h"
#include "logfmt/file/variable.h"

#define SCRIBE_LABEL_BYTES 160

struct scribe_log_region {
	struct scribe_region_stream *stream;
	int failed; /* permanent */
	char name[24];
	struct scribe_variable var;
	const void *pending; /* decoded, not fetched yet */
	size_t pending_len;
	uint64_t *fixed; /* for conversion */
};

struct scribe_reader {
	int fd;
	char label[SCRIBE_LABEL_BYTES];
	struct scribe_reader_info info;
	struct scribe_log_header header;
	struct scribe_log_job job;
	char *text; /* of the job region, cut into strings */
	const char *exe;
	struct scribe_mount *mounts;
	size_t nmounts;
	bool as_stock;
	struct scribe_err err;
	struct scribe_log_region names;
	struct scribe_log_region exact; /* names with a NUL */
	struct scribe_log_map exact_map;
	bool exact_done, plain_names, dxt_in_pieces;
	char *stand_in; /* single-region layout: escape of a name with a NUL */
	struct scribe_log_region modules[SCRIBE_MAX_MODULES];
	/* single-region layout */
	struct scribe_log_map records;
	bool sorted, columns;
	struct scribe_unified_table table;
	struct scribe_framed *parked; /* where the last module ended */
};

#endif
