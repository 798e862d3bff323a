/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding and reducing the records of one module that every rank has. Used in
 * three steps: note every record, plan, then add every record again.
 *
 * Most modules are reduced by logfmt/records/reduce.h; a LUSTRE record becomes the
 * layout that the lowest rank saw; heatmaps stay with their ranks, but several
 * of one rank become one (all must be on one time axis: util/logs/merge_heat.h);
 * APMPI's head gets the variances over the ranks.
 */
#ifndef UTIL_LOGS_MERGE_REDUX_H
#define UTIL_LOGS_MERGE_REDUX_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_merge_redux;

/* Has the module anything to reduce or join? */
int scribe_merge_redux_can(int module);
/* `nprocs`: ranks that must have a record for it to become a shared one. */
int scribe_merge_redux_new(int module, int64_t nprocs, struct scribe_merge_redux **ret_x,
			   struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_merge_redux *scribe_merge_redux_free(struct scribe_merge_redux *x);

/* First pass: a record's id and rank. `len`: its bytes, here and below. */
int scribe_merge_redux_note(struct scribe_merge_redux *x, const void *record, size_t len,
			    struct scribe_err *err);
/* Between the passes: find the ids that all ranks have. */
int scribe_merge_redux_plan(struct scribe_merge_redux *x, struct scribe_err *err);
/* Second pass. 1: the record is part of a joined one; 0: it stays as it is. */
int scribe_merge_redux_add(struct scribe_merge_redux *x, const void *record, size_t len,
			   struct scribe_err *err);
/* After the second pass: the i-th joined record, valid until the next call. 1, or 0 beyond the last. */
int scribe_merge_redux_record(struct scribe_merge_redux *x, size_t i, const void **ret_record,
			      size_t *ret_len, struct scribe_err *err);
/* Is the record one that add would take? */
int scribe_merge_redux_takes(const struct scribe_merge_redux *x, const void *record, size_t len);

#endif
