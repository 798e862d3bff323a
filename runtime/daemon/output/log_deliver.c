/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the end of a unit to its file, in stages with at most one request under way; one delivery per job at a time.
 * Must not know what logs hold.
 */
#include "runtime/daemon/output/log_deliver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/delivery.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/log_put.h"
#include "runtime/daemon/output/node_parts.h"
#include "runtime/daemon/state/job_nodes.h"

#define BUILDS_A_USER 2 /* concurrent builds per user, so that others' logs do not wait */

static struct scribe_delivery *add(struct scribe_job *job, enum scribe_delivery_what what, struct scribe_log_unit *u,
				   size_t m)
{
	struct scribe_delivery *v = calloc(1, sizeof(*v)), **at = &job->deliveries;

	if (!v)
		return NULL;
	*v = (struct scribe_delivery){.what = what,
				      .unit = u,
				      .m = m,
				      .stage = u ? STAGE_CHECK : STAGE_BUILD,
				      .theirs = -1,
				      .log = -1,
				      .root = {.pid = -1, .sock = -1}};
	while (*at)
		at = &(*at)->next;
	*at = v;
	return v;
}

void scribe_deliver_unit(struct scribe_job *job, struct scribe_log_unit *u, size_t m)
{
	const bool parts = scribe_node_parts_unit(job, u);
	struct scribe_delivery *v;

	if (parts)
		(void)add(job, WHAT_FIRST, u, NO_MESSAGE);
	v = add(job, WHAT_LOG, u, m);
	if (!v)
		snprintf(job->log[m].text, sizeof(job->log[m].text), "out of memory");
	else if (!parts && scribe_commit_agreed(u))
		v->stage = STAGE_FETCH;
}

void scribe_deliver_begun(struct scribe_job *job)
{
	(void)add(job, WHAT_BEGUN, NULL, NO_MESSAGE);
}

void scribe_deliver_done(struct scribe_job *job)
{
	(void)add(job, WHAT_DONE, NULL, NO_MESSAGE);
}

static void drop_theirs(struct scribe_delivery *v)
{
	if (v->theirs >= 0)
		close(v->theirs);
	v->theirs = -1;
}

/* v->theirs is -1 if the ranks' log is unreadable. */
static void fetch(struct scribe_job *job, struct scribe_delivery *v)
{
	int rc;

	if (!v->asked) {
		v->theirs = memfd_create("ioscribe-ranks", MFD_CLOEXEC);
		rc = v->theirs < 0 ? -errno
				   : scribe_helper_fetch(&job->helper, v->unit->partial, v->theirs,
							 job->config.write_deadline_ms);
		v->asked = rc == 0;
		if (rc == 0)
			return;
	} else if (!scribe_helper_answered(&job->helper, &rc)) {
		return;
	}
	if (rc < 0)
		drop_theirs(v);
	v->asked = false;
	v->stage = STAGE_CHECK;
}

static void look(struct scribe_job *job, struct scribe_delivery *v)
{
	/* File attributes are read once more, as far as the file systems answer in time. */
	if (!v->asked)
		scribe_file_xattrs_again(job, v->unit, v->theirs);
	v->asked = !scribe_file_xattrs_complete(job);
	if (!v->asked)
		v->stage = STAGE_BUILD;
}

struct to_build {
	struct scribe_job *w;
	const struct scribe_delivery *v;
	struct scribe_commit_plan plan;
};

struct built {
	int beside; /* result of scribe_commit_build_first */
	struct scribe_msg_log m;
	struct scribe_err err;
};

/* In the copy; only the bytes of the answer come back, so no pointers. */
static int build_log(void *ctx, void *answer)
{
	const struct to_build *x = ctx;
	const struct scribe_delivery *v = x->v;
	struct built *b = answer;
	int rc;

	if (v->what == WHAT_LOG)
		return scribe_commit_build(x->w, v->unit, &x->plan, v->theirs, v->log, &b->m, &b->err);
	rc = scribe_commit_build_first(x->w, v->unit, &x->plan, v->log, &b->err);
	b->beside = rc;
	return rc < 0 ? rc : 0;
}

static unsigned builds_of(const struct scribe_daemon *d, uid_t uid)
{
	unsigned n = 0;

	for (const struct scribe_job *job = d->jobs; job; job = job->next)
		n += scribe_subuids_same(job->config.uid, uid) && job->deliveries && job->deliveries->copy.pid;
	return n;
}

/* 0: being built; -EAGAIN: later; 1: built in this process. */
static int begin_build(struct scribe_job *job, struct scribe_delivery *v, struct built *here, int *ret_here)
{
	const int fds[] = {v->log, v->theirs, scribe_segments_file(job)};
	struct to_build x = {.w = job, .v = v};
	int rc;

	if (builds_of(job->daemon, job->config.uid) >= BUILDS_A_USER)
		return -EAGAIN;
	if (ftruncate(v->log, 0) < 0)
		return scribe_err_set(&v->err, -errno, "cannot empty a memory file: %s", strerror(errno));
	rc = scribe_commit_plan(job, v->unit, &x.plan, &v->err);
	if (rc < 0)
		return rc;
	rc = scribe_snapshot_start(&v->copy, fds, sizeof(fds) / sizeof(fds[0]), build_log, &x, sizeof(struct built));
	if (rc == 0 || rc == -EAGAIN)
		return rc;
	fprintf(stderr, "ioscribed: job %s: no process to build its log in (%s): the daemon builds it\n", job->spec.id,
		strerror(-rc));
	/* The daemon itself must not parse the ranks' log, which a user may have written. */
	drop_theirs(v);
	*ret_here = build_log(&x, here);
	return 1;
}

static void terminate(char *text, size_t cap)
{
	text[cap - 1] = 0;
}

/* Untrusted: the building process has parsed the ranks' log. */
static void take_description(struct scribe_msg_log *m, const struct built *b)
{
	*m = b->m;
	m->part = 0;
	m->path[0] = m->text[0] = 0;
	terminate(m->world, sizeof(m->world));
	terminate(m->exe, sizeof(m->exe));
	terminate(m->missing, sizeof(m->missing));
}

/* 1: no log is needed. */
static int end_build(struct scribe_job *job, struct scribe_delivery *v, struct built *b, int rc)
{
	terminate(b->err.text, sizeof(b->err.text));
	if (rc == -EPIPE && !b->err.text[0])
		scribe_err_set(&b->err, rc, "the process that built the log ended before it was done");
	if (rc < 0)
		v->err = b->err;
	if (v->what == WHAT_FIRST)
		return rc < 0 ? rc : b->beside;
	take_description(scribe_delivery_message(job, v), b);
	if (rc == 0)
		rc = scribe_commit_place(job, v->unit, v->partial, scribe_delivery_message(job, v), &v->err);
	snprintf(v->wanted, sizeof(v->wanted), "%s", scribe_delivery_message(job, v)->path);
	scribe_commit_forget(job, v->unit);
	return rc;
}

/* 0: built; 1: no log is needed; -EAGAIN: not yet. */
static int build_unit(struct scribe_job *job, struct scribe_delivery *v)
{
	static struct built b;
	int rc, here;

	memset(&b, 0, sizeof(b));
	if (!v->asked) {
		rc = begin_build(job, v, &b, &here);
		v->asked = rc == 0;
		if (rc == 1)
			return end_build(job, v, &b, here);
		return rc == 0 ? -EAGAIN : rc;
	}
	if (!scribe_snapshot_answered(&v->copy, &b, sizeof(b), &rc))
		return -EAGAIN;
	v->asked = false;
	if (rc == -EPIPE && v->theirs >= 0) {
		drop_theirs(v); /* the ranks' log may have crashed it: build again without */
		return -EAGAIN;
	}
	return end_build(job, v, &b, rc);
}

static int build_note(struct scribe_job *job, struct scribe_delivery *v)
{
	int rc = scribe_parts_node_path(job, v->what == WHAT_DONE ? SCRIBE_PART_DONE : SCRIBE_PART_BEGUN, v->wanted,
					sizeof(v->wanted));

	if (rc < 0)
		return scribe_err_set(&v->err, rc, "the log's path is too long");
	snprintf(v->partial, sizeof(v->partial), "%s", v->wanted);
	return v->what == WHAT_DONE ? scribe_parts_write_done(job, v->log) : 0;
}

static int first_path(struct scribe_job *job, struct scribe_delivery *v)
{
	int rc = v->what == WHAT_FIRST
			 ? scribe_parts_unit_path(job, v->unit, SCRIBE_PART_FIRST, v->wanted, sizeof(v->wanted))
			 : 0;

	if (rc < 0)
		return scribe_err_set(&v->err, rc, "the log's path is too long");
	if (v->what == WHAT_FIRST)
		snprintf(v->partial, sizeof(v->partial), "%s", v->wanted);
	return 0;
}

static void build(struct scribe_job *job, struct scribe_delivery *v)
{
	int rc = 0;

	if (v->log < 0) {
		v->log = memfd_create("ioscribe-log", MFD_CLOEXEC);
		if (v->log < 0)
			rc = scribe_err_set(&v->err, -errno, "cannot make a memory file: %s", strerror(errno));
		if (rc == 0)
			rc = first_path(job, v);
	}
	if (rc == 0)
		rc = v->unit ? build_unit(job, v) : build_note(job, v);
	if (rc == -EAGAIN)
		return;
	if (rc < 0)
		scribe_delivery_failed(job, v);
	else if (rc > 0)
		scribe_delivery_finished(job, v);
	else
		v->stage = STAGE_DAYS;
}

void scribe_deliver_tick(struct scribe_job *job)
{
	static void (*const steps[])(struct scribe_job *, struct scribe_delivery *) = {
		[STAGE_FETCH] = fetch,
		[STAGE_CHECK] = look,
		[STAGE_BUILD] = build,
		[STAGE_DAYS] = scribe_delivery_days,
		[STAGE_PUT] = scribe_delivery_put,
		[STAGE_MERGE] = scribe_delivery_merge,
		[STAGE_ELSEWHERE] = scribe_delivery_elsewhere,
		[STAGE_SPOOL] = scribe_delivery_spool,
	};
	struct scribe_delivery *v = job->deliveries;

	if (!v)
		return;
	(void)scribe_job_helper(job, NULL); /* if this fails, requests fail and report it */
	/* As far as possible without waiting. */
	for (bool moved = true; moved && job->deliveries == v;) {
		enum scribe_delivery_stage stage = v->stage;
		bool asked = v->asked, part_days = v->part_days;

		steps[stage](job, v);
		moved = job->deliveries == v && (v->stage != stage || v->asked != asked || v->part_days != part_days);
	}
}

bool scribe_deliver_busy(const struct scribe_job *job)
{
	return job->deliveries != NULL;
}

bool scribe_deliver_building(const struct scribe_job *job)
{
	return job->deliveries && job->deliveries->copy.pid;
}

void scribe_deliver_clear(struct scribe_job *job)
{
	while (job->deliveries)
		scribe_delivery_finished(job, job->deliveries);
}
