/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_VARIABLE_H
#define LOGFMT_FILE_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/file/log_types.h"
#include "logfmt/file/region_stream.h"

struct scribe_variable_scratch {
	void *bytes;
	size_t capacity;
};

/* A log's first heatmap record, to which others are adjusted. */
struct scribe_heatmap_first {
	int64_t nbins;
	double width;
};

struct scribe_variable {
	int module;
	unsigned version;
	bool swapped;
	struct scribe_variable_scratch scratch;
	struct scribe_heatmap_first first;
	/* DXT in pieces (reader.h); left: segments of the current record */
	bool in_pieces;
	struct scribe_dxt_piece piece;
	int64_t left;
};

/* 1, 0: end, < 0. */
int scribe_variable_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec,
			 size_t *ret_len, struct scribe_err *err);

#endif
