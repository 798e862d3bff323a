/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as they stand in files: lengths by version, byte order, and old
 * versions brought up to the newest. Private to logfmt/.
 */
#ifndef LOGFMT_LAYOUT_H
#define LOGFMT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/stream.h"

/* Longest record of a module with fixed records, any version. */
#define SCRIBE_FIXED_MAX_BYTES 1120

/* Bytes of a record of that version in the file; 0: variable, or no such version. */
size_t scribe_disk_bytes(int module, unsigned version);

void scribe_swap_words(void *words, size_t n);
/* Turn a fixed record of a file of the other byte order, in place. */
void scribe_disk_swap(int module, unsigned version, void *rec);

/*
 * Bring a fixed record (native order) to the newest layout. `rec` has room for
 * SCRIBE_FIXED_MAX_BYTES. 1: done; 0: the record has no newest form (POSIX
 * version 1 with stdio counts in it) and is left out, as in Darshan's reader.
 */
int scribe_disk_upgrade(int module, unsigned version, void *rec);

/* A buffer that grows, for records that are converted. */
struct scribe_scratch {
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
	struct scribe_scratch scratch;
	struct scribe_heatmap_first first;
};

/* The next variable record of a stream: 1 and *ret_rec, *ret_len; 0 end; < 0 error. */
int scribe_variable_next(struct scribe_variable *v, struct scribe_stream *s, const void **ret_rec,
			 size_t *ret_len, struct scribe_err *err);

/*
 * A variable record in memory into its form in the file. As scribe_record_encode.
 */
size_t scribe_variable_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap);

#endif
