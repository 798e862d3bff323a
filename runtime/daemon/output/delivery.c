/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends a delivery: frees what it owns and reports its log. */
#include "runtime/daemon/output/delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/daemon/journal/job_journal.h"

void scribe_delivery_finished(struct scribe_job *job, struct scribe_delivery *v)
{
	job->deliveries = v->next;
	scribe_snapshot_stop(&v->copy);
	scribe_helper_stop(&v->root);
	/* Only now: a daemon that dies before this delivers the log again. */
	if (v->what == WHAT_LOG)
		scribe_job_journal_committed(job, v->unit, scribe_delivery_message(job, v));
	if (v->theirs >= 0)
		close(v->theirs);
	if (v->log >= 0)
		close(v->log);
	free(v);
}

void scribe_delivery_failed(struct scribe_job *job, struct scribe_delivery *v)
{
	struct scribe_msg_log *m = scribe_delivery_message(job, v);

	if (m) {
		snprintf(m->text, sizeof(m->text), "%s", v->err.text);
		snprintf(m->path, sizeof(m->path), "%s", v->wanted);
	} else {
		fprintf(stderr, "ioscribed: job %s: %s\n", job->spec.id, v->err.text);
	}
	scribe_delivery_finished(job, v);
}
