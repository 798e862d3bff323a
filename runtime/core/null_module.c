/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NULL module: the annotated example, always built and tested, never on by
 * itself (`ioscribe run --set modules=NULL` switches it on). It counts the
 * processes of a rank: one "foo" each, its exit code and duration as data. A
 * module of your own is this file with other names; docs/adding-a-module.md
 * says which other places need a line.
 */
#include "logfmt/counters/records.h"
#include "runtime/core/module.h"
#include "runtime/core/module_ops.h"

/* One record a rank is all that this module ever asks for. */
#define NULL_RECORD_NAME "<null-module>"

/*
 * The module's last word, once a rank, before its records go to the log.
 * Setting *buf_bytes to less drops records. Records that every rank has (`shared`)
 * are reduced later: each counter by the rule in its list, FOO_MAX_DAT by the
 * module's own function (logfmt/records/null_join.c).
 */
static void null_shutdown(struct scribe_core *core, void **buf, size_t *buf_bytes)
{
	const struct scribe_null_record *record = *buf;

	(void)core;
	if (*buf_bytes && record->counters[SCRIBE_NULL_FOOS] == 0)
		*buf_bytes = 0; /* a rank in which nothing ended says nothing */
}

/* Register the module. Asked for every rank, before anything else. */
static void null_begin(struct scribe_core *core)
{
	size_t bytes = sizeof(struct scribe_null_record); /* in: wanted, out: granted */

	/*
	 * The rank could be asked for here; it stands in the record's base and is
	 * taken when the record is made. The memory alignment is for modules that
	 * look at buffers of the program: NULL. When the answer is negative, there
	 * is no memory at all: every later call for this module returns NULL, and
	 * the log says nothing of it.
	 */
	(void)scribe_core_register_module(core, SCRIBE_MOD_NULL, null_shutdown, &bytes, NULL, NULL);
}

/* The record of this rank, made at first use. NULL: memory is out, the log says so. */
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

/* The event. Nothing here may block, print or fail. */
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
