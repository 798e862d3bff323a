/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NULL module: an annotated example, off by default (`ioscribe run --set modules=NULL`). Counts the
 * processes of a rank as "foo", with exit code and duration. Copy it for a new module
 * (docs/adding-a-module.md).
 */
#include "logfmt/counters/records.h"
#include "runtime/core/module.h"
#include "runtime/core/module_ops.h"

/* This module's only record per rank. */
#define NULL_RECORD_NAME "<null-module>"

/*
 * Called once per rank; a smaller *buf_bytes drops records. Records of all ranks are reduced later, counters by
 * their lists' rules, FOO_MAX_DAT by logfmt/records/null_join.c.
 */
static void null_shutdown(struct scribe_core *core, void **buf, size_t *buf_bytes)
{
	const struct scribe_null_record *record = *buf;

	(void)core;
	if (*buf_bytes && record->counters[SCRIBE_NULL_FOOS] == 0)
		*buf_bytes = 0; /* nothing ended: no record */
}

/* First call of each rank. */
static void null_begin(struct scribe_core *core)
{
	size_t bytes = sizeof(struct scribe_null_record); /* in: requested, out: granted */

	/*
	 * The rank is set with the record, and buffers are not checked: NULL for both. After a failure later
	 * calls for this module return NULL, without a trace in the log.
	 */
	(void)scribe_core_register_module(core, SCRIBE_MOD_NULL, null_shutdown, &bytes, NULL, NULL);
}

/* Made at first use. NULL: no memory, which the log shows. */
static struct scribe_null_record *null_record(struct scribe_core *core)
{
	uint64_t id = scribe_core_gen_record_id(NULL_RECORD_NAME);
	struct scribe_null_record *r = scribe_core_find_record(core, id, SCRIBE_MOD_NULL);

	if (r)
		return r;
	r = scribe_core_register_record(core, id, NULL_RECORD_NAME, SCRIBE_MOD_NULL, sizeof(*r), NULL);
	if (!r)
		return NULL;
	r->base.id = id;
	r->base.rank = scribe_core_rank(core);
	return r;
}

/* Must not block, print or fail. */
static void null_process_end(struct scribe_core *core, const struct scribe_module_process *process)
{
	struct scribe_null_record *r = null_record(core);
	double took = process->end - process->start;

	if (!r)
		return;
	if (r->counters[SCRIBE_NULL_FOOS]++ == 0)
		r->fcounters[SCRIBE_NULL_F_FOO_TIMESTAMP] = process->start;
	if (process->status >> 8 > r->counters[SCRIBE_NULL_FOO_MAX_DAT])
		r->counters[SCRIBE_NULL_FOO_MAX_DAT] = process->status >> 8;
	if (took > r->fcounters[SCRIBE_NULL_F_FOO_MAX_DURATION])
		r->fcounters[SCRIBE_NULL_F_FOO_MAX_DURATION] = took;
}

const struct scribe_module_ops scribe_module_null = {
	.name = "NULL",
	.standard = false,
	.rank_begin = null_begin,
	.process_end = null_process_end,
};
