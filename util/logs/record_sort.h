/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a log in another order than the log has them: file by file,
 * then by module, rank and place in the log. The records go through a temporary
 * file (in TMPDIR, else /tmp); memory is 40 bytes a record and a few words a file.
 */
#ifndef UTIL_LOGS_RECORD_SORT_H
#define UTIL_LOGS_RECORD_SORT_H

#include "logfmt/file/reader.h"

struct scribe_record {
	uint64_t file; /* place of its id among all ids */
	int module;
	int64_t rank;
	uint64_t id;
	const void *data; /* newest layout, aligned to 8 */
	size_t len;
};

struct scribe_record_sort;

/*
 * Read the modules that `wanted` says yes to. Ids are numbered in order of first
 * appearance, behind those of `after` (NULL: none), whose numbers hold where it
 * has the id. 0 or a negative code with a message. The caller frees *ret_s; `after` must stay.
 */
int scribe_record_sort(struct scribe_reader *r, int (*wanted)(void *ctx, int module), void *ctx,
		       const struct scribe_record_sort *after, struct scribe_record_sort **ret_s,
		       struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_record_sort *scribe_record_sort_free(struct scribe_record_sort *s);

/* The next record, valid until the call after; NULL in *ret_record at the end. 0 or negative with a message. */
int scribe_record_sort_next(struct scribe_record_sort *s, const struct scribe_record **ret_record,
			    struct scribe_err *err);

/* By file, module and rank. */
int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b);

#endif
