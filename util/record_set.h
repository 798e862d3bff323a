/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All records of a log in memory, grouped by record id, for tools that must
 * find records again. Memory is that of the records.
 */
#ifndef UTIL_RECORD_SET_H
#define UTIL_RECORD_SET_H

#include "logfmt/reader.h"

struct scribe_record {
	uint64_t id;
	int module;
	int64_t rank;
	void *data; /* newest layout, aligned to 8 */
	size_t len;
	size_t seq;   /* place in the log */
	size_t order; /* place of the id's first record */
};

struct scribe_record_group {
	uint64_t id;
	size_t first, count; /* in records, sorted by module and rank */
	int seen;            /* the caller's mark */
};

struct scribe_record_set {
	struct scribe_record *records;
	size_t nrecords, cap;
	struct scribe_record_group *groups; /* in order of first appearance */
	size_t ngroups;
	size_t *by_id; /* places in groups, sorted by id */
};

/*
 * Load the modules that `wanted` says yes to. 0 or a negative code with a
 * message; free also after a failure.
 */
int scribe_record_set_load(struct scribe_record_set *s, struct scribe_reader *r,
			   int (*wanted)(void *ctx, int module), void *ctx, struct scribe_err *err);
void scribe_record_set_free(struct scribe_record_set *s);

/* The group of an id, or NULL. */
struct scribe_record_group *scribe_record_set_find(struct scribe_record_set *s, uint64_t id);

/* Does the group hold records of the module? */
int scribe_record_group_has(const struct scribe_record_set *s, const struct scribe_record_group *g,
			    int module);

/* By module, then rank. */
int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b);

#endif
