/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of one log in memory: collected, merged by (module, id, rank),
 * reduced across ranks, written in the order of the format.
 */
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
	size_t order;                /* of being added */
	struct scribe_bundled *same; /* other record with the same key in the map */
	struct scribe_bundled *rest; /* next rank with this id, while reducing */
	uint64_t data[];
};

struct scribe_bundle {
	struct scribe_map by_key;
	struct scribe_bundled **rec;
	size_t n, room;
	struct scribe_map names; /* id -> struct scribe_bundle_name, of a log read in */
};

struct scribe_bundle_name {
	size_t bytes;
	char text[];
};

void scribe_bundle_clear(struct scribe_bundle *b);
/*
 * Add a record (it begins with its base record). One of the same module, id and
 * rank is merged if the module's records can be, else both are kept; where only
 * a shared record (rank -1) of the id exists, it is merged into that.
 */
int scribe_bundle_add(struct scribe_bundle *b, int module, const void *rec, size_t bytes);
/* Does a record of the module that all ranks have become a shared one? */
bool scribe_bundle_can_share(int module);
/* In the order of the format. */
void scribe_bundle_sort(struct scribe_bundle *b);
/* Records that all `nprocs` ranks have become one shared record each. */
int scribe_bundle_reduce(struct scribe_bundle *b, int64_t nprocs);
/* After records were taken out by hand: find them again. 0 or -ENOMEM. */
int scribe_bundle_rekey(struct scribe_bundle *b);
/* All names and records of a log. */
int scribe_bundle_read(struct scribe_bundle *b, struct scribe_reader *r, struct scribe_err *err);
/*
 * The same, each record added as by scribe_bundle_add, with its times moved by
 * `seconds`: from the start of the log's job to that of the bundle's.
 */
int scribe_bundle_join(struct scribe_bundle *b, struct scribe_reader *r, double seconds, struct scribe_err *err);
/* The names that came by reading, of records in the bundle, to a writer. */
int scribe_bundle_write_names(const struct scribe_bundle *b, struct scribe_writer *w);
/* The records, in the order of the format, to a writer that has the names. */
int scribe_bundle_write(struct scribe_bundle *b, struct scribe_writer *w);
/* Those of modules from `first` on and below `end`. */
int scribe_bundle_write_modules(struct scribe_bundle *b, struct scribe_writer *w, int first, int end);

#endif
