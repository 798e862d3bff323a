/* SPDX-License-Identifier: BSD-3-Clause */
/* Records whose length is their own, of every version, from a stream and into the form of the file. Private
 * to logfmt/. */
#ifndef LOGFMT_FILE_VARIABLE_H
#define LOGFMT_FILE_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/file/log_types.h"
#include "logfmt/file/region_stream.h"

/* A buffer that grows, for records that are converted. */
struct scribe_variable_scratch {
	void *bytes;
	size_t room;
};

/* First heatmap record of a log: later ones are cut or filled to its number of bins. */
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
	/* DXT: a record is given in pieces (reader.h); what is left of the one that is being given */
	bool in_pieces;
	struct scribe_dxt_piece piece;
	int64_t left;
};

/* The next variable record of a stream: 1 and *ret_rec, *ret_len; 0 end; < 0 error. */
int scribe_variable_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec,
			 size_t *ret_len, struct scribe_err *err);

#endif
