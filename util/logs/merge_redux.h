/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces the records of one module that every rank has: note all, plan, add all again. LUSTRE records become the
 * lowest rank's layout. Heatmaps stay per rank; several of one rank (on one axis, merge_heat.h) are summed. APMPI's
 * head receives the variances over ranks.
 */
#ifndef UTIL_LOGS_MERGE_REDUX_H
#define UTIL_LOGS_MERGE_REDUX_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_merge_redux;

int scribe_merge_redux_can(int module);
/* nprocs: ranks that must have a record before it becomes a shared one. */
int scribe_merge_redux_new(int module, int64_t nprocs, struct scribe_merge_redux **ret_x,
			   struct scribe_err *err);
struct scribe_merge_redux *scribe_merge_redux_free(struct scribe_merge_redux *x);

/* First pass. len: bytes of the record. */
int scribe_merge_redux_note(struct scribe_merge_redux *x, const void *record, size_t len,
			    struct scribe_err *err);
/* Between the passes. */
int scribe_merge_redux_plan(struct scribe_merge_redux *x, struct scribe_err *err);
/* Second pass. 1: joined; 0: keep the record unchanged. */
int scribe_merge_redux_add(struct scribe_merge_redux *x, const void *record, size_t len,
			   struct scribe_err *err);
/* The i-th result, valid until the next call. 1, or 0 after the last. */
int scribe_merge_redux_record(struct scribe_merge_redux *x, size_t i, const void **ret_record,
			      size_t *ret_len, struct scribe_err *err);
/* Would add join this record? */
int scribe_merge_redux_takes(const struct scribe_merge_redux *x, const void *record, size_t len);

#endif
