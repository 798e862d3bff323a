// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completes a unit's records at its end and starts the delivery; later records do not belong to it. Main
 * thread. Must not know what is in a log.
 */
#include "runtime/daemon/output/log_finalize.h"

#include "runtime/daemon/events/drain.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/state/job_messages.h"

static bool has_records(const struct scribe_log_unit *u)
{
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (r && (scribe_records_have_activity(r->records) || scribe_records_have_activity(r->fetched)))
			return true;
	}
	return false;
}

static void commit_unit(struct scribe_job *job, struct scribe_log_unit *u)
{
	/* Processes that still run have undrained records in the kernel. */
	for (struct scribe_process *p = u->first; p; p = p->next)
		if (!p->ended && !p->leaving)
			scribe_drain_living(job->daemon, p);
	scribe_segments_take(job->daemon, true);
	scribe_segments_publish_now(job);
	scribe_segments_filter(job, u);
	u->committed = true;
	/* Launchers without recorded I/O make no log. */
	if (!u->id && !u->has_non_launcher && !has_records(u)) {
		scribe_job_journal_committed(job, u, NULL);
		return;
	}
	/* Without an entry in the report the log is not delivered. */
	if (scribe_commit_message(job))
		scribe_deliver_unit(job, u, job->logs - 1);
}

void scribe_commit_resumed(struct scribe_job *job, uint32_t unit, const struct scribe_msg_log *m)
{
	struct scribe_log_unit *u = job->worlds.units;
	struct scribe_msg_log *to;

	while (u && u->id != unit)
		u = u->next;
	if (!u)
		return;
	u->committed = true;
	u->part = m && m->part;
	to = m ? scribe_commit_message(job) : NULL;
	if (to)
		*to = *m;
	scribe_commit_forget(job, u);
}

void scribe_commit_due(struct scribe_job *job, bool all)
{
	struct scribe_log_unit *u;

	if (job->state == SCRIBE_JOB_OVER)
		return;
	for (u = job->worlds.units; u; u = u->next)
		if (u->id && !u->committed && (all || scribe_log_unit_is_over(&job->worlds, u)))
			commit_unit(job, u);
	/* Last, because the rest ends only with the job. */
	if (all && !job->worlds.rest->committed)
		commit_unit(job, job->worlds.rest);
}
