/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of one rank as they are collected: one accumulator a name, in order
 * of first appearance.
 */
#ifndef RUNTIME_DAEMON_MODEL_RECORD_SET_H
#define RUNTIME_DAEMON_MODEL_RECORD_SET_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/posix_finish.h"
#include "logfmt/records/hashmap.h"

struct scribe_file_record {
	uint64_t id;           /* record id of its name */
	int module;            /* SCRIBE_MOD_POSIX, or the library module whose record this is */
	uint64_t renamed_from; /* record id of the first rename's source, 0 none */
	uint32_t mode;         /* of the last open that had one */
	uint32_t align;        /* bytes */
	uint64_t file_id;      /* of a dataset: record id of its file's name */
	struct scribe_posix_acc acc;
};

struct scribe_records {
	struct scribe_map by_id;
	struct scribe_file_record **file; /* in order of appearance */
	size_t n, room;
};

struct scribe_records *scribe_records_new(void);
struct scribe_records *scribe_records_free(struct scribe_records *r);
/* The file of a record id, made if new. NULL: memory is out. */
struct scribe_file_record *scribe_records_at(struct scribe_records *r, uint64_t id);
/* The same of a library module: its own accumulator beside POSIX's. */
struct scribe_file_record *scribe_records_at_module(struct scribe_records *r, int module, uint64_t id);
/* The same, or NULL where there is none; `r` may be NULL. */
struct scribe_file_record *scribe_records_find(const struct scribe_records *r, int module, uint64_t id);
/* What a dataset is, as told last, in place of a sum. */
void scribe_file_properties(struct scribe_file_record *f, const struct scribe_ext_shard *of);
/* Add all files of `other`. 0 or -ENOMEM. */
int scribe_records_join(struct scribe_records *r, const struct scribe_records *other);
/* Has any file more to tell than that an inherited descriptor was closed, or a standard stream used? */
int scribe_records_have_activity(const struct scribe_records *r);
/* Has the POSIX shard anything a POSIX record would say? */
int scribe_file_has_posix(const struct scribe_file_record *f);

#endif
