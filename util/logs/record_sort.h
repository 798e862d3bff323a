/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records by file, module, rank and position, in a temporary file (TMPDIR or /tmp); memory is 40 bytes per
 * record and some words per file.
 */
#ifndef UTIL_LOGS_RECORD_SORT_H
#define UTIL_LOGS_RECORD_SORT_H

#include "logfmt/file/reader.h"

struct scribe_record {
	uint64_t file;
	int module;
	int64_t rank;
	uint64_t id;
	const void *data; /* newest layout, aligned to 8 */
	size_t len;
};

struct scribe_record_sort;

/*
 * Reads modules for which `wanted` is true. Ids are numbered by first appearance; those of `after` (may be NULL,
 * must outlive *ret_s) keep their numbers.
 */
int scribe_record_sort(struct scribe_reader *r, int (*wanted)(void *ctx, int module), void *ctx,
		       const struct scribe_record_sort *after, struct scribe_record_sort **ret_s,
		       struct scribe_err *err);
struct scribe_record_sort *scribe_record_sort_free(struct scribe_record_sort *s);

/* *ret_record is valid until the next call; NULL at the end. */
int scribe_record_sort_next(struct scribe_record_sort *s, const struct scribe_record **ret_record,
			    struct scribe_err *err);

int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b);

#endif
