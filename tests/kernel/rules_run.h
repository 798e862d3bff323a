/* SPDX-License-Identifier: BSD-3-Clause */
/* What the test and its kernel program share: a batch of operations and the state they act on. */
#ifndef TESTS_KERNEL_RULES_RUN_H
#define TESTS_KERNEL_RULES_RUN_H

#include "logfmt/rules/posix_rules.h"

#define RULES_RUN_OPS 64

struct rules_run {
	struct scribe_data_op op[RULES_RUN_OPS];
	scribe_u32 reopen[RULES_RUN_OPS]; /* 1: the file is opened again before this operation */
	scribe_u32 count;
	scribe_u32 atomic; /* 1: as a shard that nobody could lock */
	scribe_u32 alone;  /* 1: no other thread can be at the cursor */
	struct scribe_cursor cursor;
	struct scribe_posix_shard shard;
	struct scribe_value_table access, stride;
};

/* One operation exactly as the kernel programs apply it. */
SCRIBE_INLINE void rules_run_one(struct rules_run *r, scribe_u32 i)
{
	struct scribe_op_class_result place;

	if (r->reopen[i])
		scribe_cursor_open(&r->cursor);
	if (r->alone)
		scribe_cursor_data(&r->cursor, &r->op[i], 1, &place);
	else
		scribe_cursor_data(&r->cursor, &r->op[i], 0, &place);
	if (r->atomic) {
		scribe_shard_data(&r->shard, &r->op[i], &place, 1);
		scribe_top_count(r->shard.access, (scribe_s64)r->op[i].bytes, 1);
		scribe_top_count(r->shard.stride, place.stride, 1);
		return;
	}
	scribe_shard_data(&r->shard, &r->op[i], &place, 0);
	if (scribe_top_count(r->shard.access, (scribe_s64)r->op[i].bytes, 0))
		scribe_table_count(&r->access, (scribe_s64)r->op[i].bytes);
	if (scribe_top_count(r->shard.stride, place.stride, 0))
		scribe_table_count(&r->stride, place.stride);
}

#endif
