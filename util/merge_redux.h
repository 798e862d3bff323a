/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding and reducing the records of one module that every rank has. Used in
 * three steps: note every record, plan, then add every record again.
 */
#ifndef UTIL_MERGE_REDUX_H
#define UTIL_MERGE_REDUX_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_merge_redux;

/* `nprocs`: ranks that must have a record for it to become a shared one. */
int scribe_merge_redux_new(int module, int64_t nprocs, struct scribe_merge_redux **ret_x,
			   struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_merge_redux *scribe_merge_redux_free(struct scribe_merge_redux *x);

/* First pass: a record's id and rank. */
int scribe_merge_redux_note(struct scribe_merge_redux *x, const void *record, struct scribe_err *err);
/* Between the passes: find the ids that all ranks have. */
int scribe_merge_redux_plan(struct scribe_merge_redux *x, struct scribe_err *err);
/* Second pass. 1: the record is part of a shared one; 0: it stays as it is. */
int scribe_merge_redux_add(struct scribe_merge_redux *x, const void *record, struct scribe_err *err);
/* After the second pass: the i-th shared record, into ret_rec. 1, or 0 beyond the last. */
int scribe_merge_redux_record(struct scribe_merge_redux *x, size_t i, void *ret_rec, struct scribe_err *err);
/* Is the record, by id and rank, one that add would take? */
int scribe_merge_redux_takes(const struct scribe_merge_redux *x, const void *record);

#endif
