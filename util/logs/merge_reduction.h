/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces a module's records that every rank has: note all, plan, add all again. Heatmaps stay per rank; several of
 * one rank are summed. APMPI's head receives the variances.
 */
#ifndef UTIL_LOGS_MERGE_REDUCTION_H
#define UTIL_LOGS_MERGE_REDUCTION_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_merge_reduction;

int scribe_merge_reduction_can(int module);
/* nprocs: ranks needed for a shared record. */
int scribe_merge_reduction_new(int module, int64_t nprocs, struct scribe_merge_reduction **ret_x,
			       struct scribe_err *err);
struct scribe_merge_reduction *scribe_merge_reduction_free(struct scribe_merge_reduction *x);

/* First pass. len: bytes of the record. */
int scribe_merge_reduction_note(struct scribe_merge_reduction *x, const void *record, size_t len,
				struct scribe_err *err);
int scribe_merge_reduction_plan(struct scribe_merge_reduction *x, struct scribe_err *err);
/* Second pass. 1: joined; 0: keep the record unchanged. */
int scribe_merge_reduction_add(struct scribe_merge_reduction *x, const void *record, size_t len,
			       struct scribe_err *err);
/* The i-th result, valid until the next call. 1, or 0 after the last. */
int scribe_merge_reduction_record(struct scribe_merge_reduction *x, size_t i, const void **ret_record, size_t *ret_len,
				  struct scribe_err *err);
int scribe_merge_reduction_takes(const struct scribe_merge_reduction *x, const void *record, size_t len);

#endif
