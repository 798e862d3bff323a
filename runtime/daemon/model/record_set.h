/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one rank, in order of first appearance. */
#ifndef RUNTIME_DAEMON_MODEL_RECORD_SET_H
#define RUNTIME_DAEMON_MODEL_RECORD_SET_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"
#include "logfmt/records/posix_finish.h"

struct scribe_file_record {
	uint64_t id;           /* record id of its name */
	int module;            /* SCRIBE_MOD_POSIX or a library module */
	uint64_t renamed_from; /* record id of the first rename's source; 0: none */
	uint32_t mode;         /* of the last open with one */
	uint32_t align;        /* bytes */
	uint64_t file_id;      /* of a dataset: record id of its file */
	struct scribe_posix_acc acc;
};

struct scribe_records {
	struct scribe_map by_id;
	struct scribe_file_record **file;
	size_t n, capacity;
};

struct scribe_records *scribe_records_new(void);
struct scribe_records *scribe_records_free(struct scribe_records *r);
/* Creates it if needed. NULL: out of memory. */
struct scribe_file_record *scribe_records_at(struct scribe_records *r, uint64_t id);
struct scribe_file_record *scribe_records_at_module(struct scribe_records *r, int module, uint64_t id);
/* NULL: none; `r` may be NULL. */
struct scribe_file_record *scribe_records_find(const struct scribe_records *r, int module, uint64_t id);
/* Properties of a dataset: the last value counts. */
void scribe_file_properties(struct scribe_file_record *f, const struct scribe_ext_shard *of);
/* Adds all records of `other`. -ENOMEM: only some of them. */
int scribe_records_join(struct scribe_records *r, const struct scribe_records *other);
/* False if inherited descriptors were only closed and only standard streams used. */
int scribe_records_have_activity(const struct scribe_records *r);
/* True if a POSIX record would not be empty. */
int scribe_file_has_posix(const struct scribe_file_record *f);

#endif
