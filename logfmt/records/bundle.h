/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_BUNDLE_H
#define LOGFMT_RECORDS_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "logfmt/records/hashmap.h"

struct scribe_bundled {
	uint64_t id;
	int64_t rank;
	int module;
	size_t bytes;
	size_t order;                /* of addition */
	struct scribe_bundled *same; /* with the same key */
	struct scribe_bundled *rest; /* the next rank with this id, during reduction */
	uint64_t data[];
};

struct scribe_bundle {
	struct scribe_map by_key;
	struct scribe_bundled **rec;
	size_t n, capacity;
	struct scribe_map names; /* id -> struct scribe_bundle_name */
};

struct scribe_bundle_name {
	size_t bytes;
	char text[];
};

void scribe_bundle_clear(struct scribe_bundle *b);
/*
 * Merges with the record of the same module, id and rank, otherwise with the shared one (rank -1); if neither
 * exists or the module's records cannot be merged, it is kept separately.
 */
int scribe_bundle_add(struct scribe_bundle *b, int module, const void *rec, size_t bytes);
bool scribe_bundle_can_share(int module);
void scribe_bundle_sort(struct scribe_bundle *b);
/* Records that all `nprocs` ranks have become shared. */
int scribe_bundle_reduce(struct scribe_bundle *b, int64_t nprocs);
/* Required after b->rec was changed. 0 or -ENOMEM. */
int scribe_bundle_rekey(struct scribe_bundle *b);
int scribe_bundle_read(struct scribe_bundle *b, struct scribe_reader *r, struct scribe_err *err);
/* As by scribe_bundle_add, with times shifted by `seconds`, the log's start minus the bundle's. */
int scribe_bundle_join(struct scribe_bundle *b, struct scribe_reader *r, double seconds, struct scribe_err *err);
/* Names that were read, of records in the bundle. */
int scribe_bundle_write_names(const struct scribe_bundle *b, struct scribe_writer *w);
/* To a writer that has the names, in the format's order. */
int scribe_bundle_write(struct scribe_bundle *b, struct scribe_writer *w);
/* Modules first to end - 1. */
int scribe_bundle_write_modules(struct scribe_bundle *b, struct scribe_writer *w, int first, int end);

#endif
