/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a unit that is over to a file: the ranks' own log is fetched, the log is built in a copy of
 * the daemon, then put in its directory by a helper of the job's user. The spool or /tmp is the
 * fallback. Each step is a stage with at most one request under way; every turn of the loop
 * advances it. One delivery at a time a job, in order. A struct scribe_delivery owns its memory
 * files, helper and snapshot until finished(). Main thread of the daemon. Must not know what logs
 * hold.
 */
#include "runtime/daemon/output/log_deliver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/collect/segments.h"
#include "runtime/daemon/output/node_parts.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/state/job_nodes.h"

/* Deliveries that are not reported have no entry in the job's list of logs. */
#define NO_MESSAGE SIZE_MAX
#define BUILDS_A_USER 2 /* logs that are built at once; those of other users are not kept waiting */
#define MERGE_MS   120000 /* for the logs of a job, made of the parts of all its nodes */

/*
 * In this order, with some left out: FETCH if the ranks wrote a log; DAYS where directories are
 * root's; one of PUT, ELSEWHERE and SPOOL; MERGE at a job's end on several nodes.
 */
enum stage {
	STAGE_FETCH,
	STAGE_CHECK,
	STAGE_BUILD,
	STAGE_DAYS,
	STAGE_PUT,
	STAGE_ELSEWHERE,
	STAGE_SPOOL,
	STAGE_MERGE
};

enum what {
	WHAT_LOG,   /* of a unit, or this node's part of it */
	WHAT_FIRST, /* beside a part: what its ranks had been handed */
	WHAT_BEGUN, /* notes to the job's other nodes */
	WHAT_DONE,
};

struct scribe_delivery {
	struct scribe_log_unit *unit; /* NULL: a note */
	size_t m;
	enum what what;
	enum stage stage;
	bool asked;
	bool new_helper;         /* the first one has died */
	bool part_days;          /* those above the part are made: next, those above the log made of it */
	int theirs;              /* copy of the ranks' log; -1 none */
	int log;                 /* the finished log; -1 not yet */
	struct scribe_snapshot copy; /* of the daemon, which builds the log */
	struct scribe_helper root; /* makes the directories that are not the user's */
	char partial[SCRIBE_PATH_MAX]; /* where it is written first */
	char wanted[SCRIBE_PATH_MAX];  /* its place */
	struct scribe_err err;         /* of its place */
	struct scribe_delivery *next;
};

/* NULL: nobody is told of it. */
static struct scribe_msg_log *message(struct scribe_job *w, const struct scribe_delivery *v)
{
	return v->m == NO_MESSAGE ? NULL : &w->log[v->m];
}

static bool in_parts(const struct scribe_job *w, const struct scribe_delivery *v)
{
	return !v->unit || scribe_node_parts_unit(w, v->unit);
}

static struct scribe_delivery *add(struct scribe_job *w, enum what what, struct scribe_log_unit *u, size_t m)
{
	struct scribe_delivery *v = calloc(1, sizeof(*v)), **at = &w->deliveries;

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

void scribe_deliver_unit(struct scribe_job *w, struct scribe_log_unit *u, size_t m)
{
	const bool parts = scribe_node_parts_unit(w, u);
	struct scribe_delivery *v;

	if (parts)
		(void)add(w, WHAT_FIRST, u, NO_MESSAGE);
	v = add(w, WHAT_LOG, u, m);
	if (!v)
		snprintf(w->log[m].text, sizeof(w->log[m].text), "out of memory");
	else if (!parts && scribe_commit_agreed(u))
		v->stage = STAGE_FETCH;
}

void scribe_deliver_begun(struct scribe_job *w)
{
	(void)add(w, WHAT_BEGUN, NULL, NO_MESSAGE);
}

void scribe_deliver_done(struct scribe_job *w)
{
	(void)add(w, WHAT_DONE, NULL, NO_MESSAGE);
}

/* Noted in the journal only now: a daemon that dies before this delivers the log again. */
static void finished(struct scribe_job *w, struct scribe_delivery *v)
{
	w->deliveries = v->next;
	scribe_snapshot_stop(&v->copy);
	scribe_helper_stop(&v->root);
	if (v->what == WHAT_LOG)
		scribe_job_journal_committed(w, v->unit, message(w, v));
	if (v->theirs >= 0)
		close(v->theirs);
	if (v->log >= 0)
		close(v->log);
	free(v);
}

/* The error goes to the report, or, without one, to the daemon's log. */
static void failed(struct scribe_job *w, struct scribe_delivery *v)
{
	struct scribe_msg_log *m = message(w, v);

	if (m) {
		snprintf(m->text, sizeof(m->text), "%s", v->err.text);
		snprintf(m->path, sizeof(m->path), "%s", v->wanted);
	} else {
		fprintf(stderr, "ioscribed: job %s: %s\n", w->spec.id, v->err.text);
	}
	finished(w, v);
}

static void drop_theirs(struct scribe_delivery *v)
{
	if (v->theirs >= 0)
		close(v->theirs);
	v->theirs = -1;
}

/* The ranks' log: a copy, made by the helper. -1 in theirs: there is none that could be read. */
static void fetch(struct scribe_job *w, struct scribe_delivery *v)
{
	int rc;

	if (!v->asked) {
		v->theirs = memfd_create("ioscribe-ranks", MFD_CLOEXEC);
		rc = v->theirs < 0 ? -errno
				   : scribe_helper_fetch(&w->helper, v->unit->partial, v->theirs,
						       w->config.write_deadline_ms);
		v->asked = rc == 0;
		if (rc == 0)
			return;
	} else if (!scribe_helper_answered(&w->helper, &rc)) {
		return;
	}
	if (rc < 0)
		drop_theirs(v);
	v->asked = false;
	v->stage = STAGE_CHECK;
}

/* Files are asked once more what they say of themselves, as far as they answer in time. */
static void look(struct scribe_job *w, struct scribe_delivery *v)
{
	if (!v->asked)
		scribe_file_xattrs_again(w, v->unit, v->theirs);
	v->asked = !scribe_file_xattrs_settled(w);
	if (!v->asked)
		v->stage = STAGE_BUILD;
}

/* ---- building, in a copy of the daemon ---- */

struct to_build {
	struct scribe_job *w;
	const struct scribe_delivery *v;
	struct scribe_commit_plan plan;
};

struct built {
	int beside; /* of what scribe_commit_build_first says */
	struct scribe_msg_log m;
	struct scribe_err err;
};

/* In the copy. Only the struct's bytes come back: no pointers. */
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

/* Logs of this user's jobs that are being built. */
static unsigned builds_of(const struct scribe_daemon *d, uid_t uid)
{
	unsigned n = 0;

	for (const struct scribe_job *w = d->works; w; w = w->next)
		n += w->config.uid == uid && w->deliveries && w->deliveries->copy.pid;
	return n;
}

/*
 * 0: it is being built; -EAGAIN: later. 1: it has been built here, where no process is to be had for
 * it: without what the ranks have written, which this one does not read.
 */
static int begin_build(struct scribe_job *w, struct scribe_delivery *v, struct built *here, int *ret_here)
{
	const int fds[] = {v->log, v->theirs, scribe_segments_file(w)};
	struct to_build x = {.w = w, .v = v};
	int rc;

	if (builds_of(w->daemon, w->config.uid) >= BUILDS_A_USER)
		return -EAGAIN;
	if (ftruncate(v->log, 0) < 0)
		return scribe_err_set(&v->err, -errno, "cannot empty a memory file: %s", strerror(errno));
	rc = scribe_commit_plan(w, v->unit, &x.plan, &v->err);
	if (rc < 0)
		return rc;
	rc = scribe_snapshot_start(&v->copy, fds, sizeof(fds) / sizeof(fds[0]), build_log, &x, sizeof(struct built));
	if (rc == 0 || rc == -EAGAIN)
		return rc;
	fprintf(stderr, "ioscribed: job %s: no process to build its log in (%s): the daemon builds it\n", w->spec.id,
		strerror(-rc));
	drop_theirs(v);
	*ret_here = build_log(&x, here);
	return 1;
}

static void terminate(char *text, size_t cap)
{
	text[cap - 1] = 0;
}

/* What a process that has read the ranks' log says of it. */
static void take_description(struct scribe_msg_log *m, const struct built *b)
{
	*m = b->m;
	m->part = 0;
	m->path[0] = m->text[0] = 0;
	terminate(m->world, sizeof(m->world));
	terminate(m->exe, sizeof(m->exe));
	terminate(m->missing, sizeof(m->missing));
}

/* A log has been built, or cannot be: 1, there is none and need not be. */
static int end_build(struct scribe_job *w, struct scribe_delivery *v, struct built *b, int rc)
{
	terminate(b->err.text, sizeof(b->err.text));
	if (rc == -EPIPE && !b->err.text[0])
		scribe_err_set(&b->err, rc, "the process that built the log ended before it was done");
	if (rc < 0)
		v->err = b->err;
	if (v->what == WHAT_FIRST)
		return rc < 0 ? rc : b->beside;
	take_description(message(w, v), b);
	if (rc == 0)
		rc = scribe_commit_place(w, v->unit, v->partial, message(w, v), &v->err);
	snprintf(v->wanted, sizeof(v->wanted), "%s", message(w, v)->path);
	scribe_commit_forget(w, v->unit);
	return rc;
}

/* 0: built; 1: there is nothing to be written; -EAGAIN: not yet. */
static int build_unit(struct scribe_job *w, struct scribe_delivery *v)
{
	static struct built b;
	int rc, here;

	memset(&b, 0, sizeof(b));
	if (!v->asked) {
		rc = begin_build(w, v, &b, &here);
		v->asked = rc == 0;
		if (rc == 1)
			return end_build(w, v, &b, here);
		return rc == 0 ? -EAGAIN : rc;
	}
	if (!scribe_snapshot_answered(&v->copy, &b, sizeof(b), &rc))
		return -EAGAIN;
	v->asked = false;
	if (rc == -EPIPE && v->theirs >= 0) {
		drop_theirs(v); /* it may have died of what the ranks have written */
		return -EAGAIN;
	}
	return end_build(w, v, &b, rc);
}

/* A note to other nodes. */
static int build_note(struct scribe_job *w, struct scribe_delivery *v)
{
	int rc = scribe_parts_node_path(w, v->what == WHAT_DONE ? SCRIBE_PART_DONE : SCRIBE_PART_BEGUN, v->wanted,
					sizeof(v->wanted));

	if (rc < 0)
		return scribe_err_set(&v->err, rc, "the log's path is too long");
	snprintf(v->partial, sizeof(v->partial), "%s", v->wanted);
	return v->what == WHAT_DONE ? scribe_parts_write_done(w, v->log) : 0;
}

/* A file beside a part has a path of its own. */
static int first_path(struct scribe_job *w, struct scribe_delivery *v)
{
	int rc = v->what == WHAT_FIRST ? scribe_parts_unit_path(w, v->unit, SCRIBE_PART_FIRST, v->wanted,
								sizeof(v->wanted))
				       : 0;

	if (rc < 0)
		return scribe_err_set(&v->err, rc, "the log's path is too long");
	if (v->what == WHAT_FIRST)
		snprintf(v->partial, sizeof(v->partial), "%s", v->wanted);
	return 0;
}

static void build(struct scribe_job *w, struct scribe_delivery *v)
{
	int rc = 0;

	if (v->log < 0) {
		v->log = memfd_create("ioscribe-log", MFD_CLOEXEC);
		if (v->log < 0)
			rc = scribe_err_set(&v->err, -errno, "cannot make a memory file: %s", strerror(errno));
		if (rc == 0)
			rc = first_path(w, v);
	}
	if (rc == 0)
		rc = v->unit ? build_unit(w, v) : build_note(w, v);
	if (rc == -EAGAIN)
		return;
	if (rc < 0)
		failed(w, v);
	else if (rc > 0)
		finished(w, v);
	else
		v->stage = STAGE_DAYS;
}

/* Ask for it, or look for the answer. False: not yet. */
static bool put_at(struct scribe_delivery *v, struct scribe_helper *h, const struct scribe_helper_put *put,
		   uint32_t deadline_ms, int *ret_rc)
{
	if (v->asked)
		return scribe_helper_answered(h, ret_rc);
	*ret_rc = scribe_helper_put(h, put, deadline_ms);
	v->asked = *ret_rc == 0;
	return *ret_rc < 0 && *ret_rc != -EBUSY;
}

/* The log stays in memory until another stage has put it somewhere. */
static void no_place(struct scribe_job *w, struct scribe_delivery *v, int rc)
{
	scribe_err_set(&v->err, rc, "cannot write %.400s: %s", v->wanted,
		       rc == -ETIMEDOUT ? "no answer in time" : strerror(-rc));
	if (w->daemon->service)
		scribe_audit_log_no_place(w->config.uid, v->err.text);
	v->stage = w->daemon->spool ? STAGE_SPOOL : STAGE_ELSEWHERE;
}

/* A service's directories of the date are root's. Where that cannot be, the user's helper does what it may. */
static void days(struct scribe_job *w, struct scribe_delivery *v)
{
	const char *path = v->part_days ? v->unit->log_path : v->wanted;
	size_t shared = w->daemon->spool ? scribe_log_path_shared(w, path) : 0;
	int rc = 0;

	if (shared && !v->asked) {
		rc = scribe_helper_start(&v->root, geteuid(), getegid(), "", &v->err);
		if (rc == 0)
			rc = scribe_helper_days(&v->root, path, shared, w->config.write_deadline_ms);
		v->asked = rc == 0;
		if (v->asked)
			return;
	} else if (shared && !scribe_helper_answered(&v->root, &rc)) {
		return;
	}
	scribe_helper_stop(&v->root);
	v->asked = false;
	if (v->what == WHAT_LOG && shared && v->unit->log_path && !v->part_days && rc != -ETIMEDOUT) {
		v->part_days = true;
		return;
	}
	v->stage = STAGE_PUT;
	if (rc == -ETIMEDOUT) /* the user's helper would hang there as long again */
		no_place(w, v, rc);
}

/* It stands where it belongs. */
static void is_put(struct scribe_job *w, struct scribe_delivery *v)
{
	if (v->what == WHAT_DONE)
		v->stage = STAGE_MERGE;
	else
		finished(w, v);
}

static void put(struct scribe_job *w, struct scribe_delivery *v)
{
	const bool parts = in_parts(w, v), named = w->config.log_file[0] != 0;
	/* a node that has recorded nothing looks whether another has */
	const bool asks = v->what == WHAT_DONE && !w->told_begun;
	char fresh[SCRIBE_PATH_MAX];
	const char *theirs = parts ? NULL : v->unit->partial;
	struct scribe_helper_put put = {
		.fd = v->log,
		.partial = fresh,
		.to = v->wanted,
		.replace = parts || named,
		.mkdirs = parts ? !asks : !named,
		.own = (unsigned)scribe_log_path_own(w, v->wanted),
		.drop = theirs,
	};
	int rc;

	/* the ranks' file may stand under the partial name until ours is complete */
	snprintf(fresh, sizeof(fresh), "%.4000s%s", v->partial, theirs || parts ? "_new" : "");
	if (!put_at(v, &w->helper, &put, w->config.write_deadline_ms, &rc))
		return;
	v->asked = false;
	if (rc == 0) {
		is_put(w, v);
		return;
	}
	/* the user may end its helper, and so may the kernel when memory is short */
	if (rc == -EPIPE && !v->new_helper && scribe_job_new_helper(w, NULL) == 0) {
		v->new_helper = true;
		return;
	}
	if (asks) {
		finished(w, v);
		return;
	}
	no_place(w, v, rc);
	if (v->what == WHAT_BEGUN)
		failed(w, v); /* the parts themselves will be tried again */
}

/* All nodes may have delivered: the last one makes the logs. */
static void merge(struct scribe_job *w, struct scribe_delivery *v)
{
	char dir[SCRIBE_PATH_MAX];
	int rc;

	if (!v->asked) {
		size_t n = 0;

		(void)scribe_parts_in(v->wanted, &n);
		snprintf(dir, sizeof(dir), "%.*s", (int)n, v->wanted);
		v->theirs = memfd_create("ioscribe-made", MFD_CLOEXEC);
		rc = v->theirs < 0 ? -errno
				   : scribe_helper_merge(&w->helper, dir, w->spec.last_node, v->theirs, MERGE_MS);
		v->asked = rc == 0;
		if (rc == 0)
			return;
	} else if (!scribe_helper_answered(&w->helper, &rc)) {
		return;
	}
	v->asked = false;
	if (rc == 0)
		scribe_parts_made(w, v->theirs);
	else if (rc != -EAGAIN && rc != -EBUSY && rc != -ENOENT)
		fprintf(stderr, "ioscribed: job %s: cannot merge the parts beside %s into its logs: %s\n",
			w->spec.id, v->wanted, rc == -ETIMEDOUT ? "no answer in time" : scribe_strerror(rc));
	finished(w, v);
}

/* Not where it was wanted: it is at `path`, or nowhere. */
static void ended_at(struct scribe_job *w, struct scribe_delivery *v, const char *path, int rc)
{
	v->asked = false;
	if (rc < 0) {
		failed(w, v);
		return;
	}
	if (message(w, v))
		strcpy(message(w, v)->path, path);
	finished(w, v);
}

/* The place has become impossible (full, gone, hung): better a log elsewhere than none. */
static void elsewhere(struct scribe_job *w, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX];
	struct scribe_helper_put put = {.fd = v->log, .partial = fresh, .to = path, .replace = true};
	int rc = scribe_log_path_fallback(v->wanted, path, sizeof(path));

	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (!v->asked && rc == 0 && w->helper.sock < 0)
		rc = scribe_job_new_helper(w, NULL);
	if (rc == 0 && !put_at(v, &w->helper, &put, w->config.write_deadline_ms, &rc))
		return;
	ended_at(w, v, path, rc);
}

/* Has its user too many there? Then both reasons are told. */
static int check_spool(struct scribe_job *w, struct scribe_delivery *v)
{
	struct scribe_err full = {0}, unwritable = v->err;
	int rc = scribe_daemon_may(w->daemon, w->config.uid, SCRIBE_QUOTA_SPOOL, &full);

	return rc < 0 ? scribe_err_set(&v->err, rc, "%.300s; %.150s", unwritable.text, full.text) : 0;
}

static void spool(struct scribe_job *w, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX], note[SCRIBE_PATH_MAX + 256];
	struct scribe_helper_put put = {
		.fd = v->log, .partial = fresh, .to = path, .note = note, .uid = w->config.uid, .gid = w->config.gid};
	struct scribe_helper *h = scribe_spool_helper(w->daemon->spool);
	int rc = scribe_spool_name(w->daemon->spool, w, v->wanted, path, sizeof(path), note, sizeof(note));

	if (rc == 0 && !v->asked)
		rc = check_spool(w, v);
	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (rc == 0 && !put_at(v, h, &put, w->config.write_deadline_ms, &rc))
		return;
	ended_at(w, v, path, rc);
}

/* Stages that need no answer follow each other at once. */
void scribe_deliver_tick(struct scribe_job *w)
{
	static void (*const steps[])(struct scribe_job *, struct scribe_delivery *) = {
		[STAGE_FETCH] = fetch,         [STAGE_CHECK] = look,   [STAGE_BUILD] = build,
		[STAGE_DAYS] = days,           [STAGE_PUT] = put,     [STAGE_MERGE] = merge,
		[STAGE_ELSEWHERE] = elsewhere, [STAGE_SPOOL] = spool,
	};
	struct scribe_delivery *v = w->deliveries;

	if (!v)
		return;
	(void)scribe_job_helper(w, NULL); /* without one, what it is asked fails, and says so */
	/* as far as it goes without waiting; the next one at the next tick */
	for (bool moved = true; moved && w->deliveries == v;) {
		enum stage stage = v->stage;
		bool asked = v->asked, part_days = v->part_days;

		steps[stage](w, v);
		moved = w->deliveries == v &&
			(v->stage != stage || v->asked != asked || v->part_days != part_days);
	}
}

bool scribe_deliver_busy(const struct scribe_job *w)
{
	return w->deliveries != NULL;
}

bool scribe_deliver_building(const struct scribe_job *w)
{
	return w->deliveries && w->deliveries->copy.pid;
}

void scribe_deliver_clear(struct scribe_job *w)
{
	while (w->deliveries)
		finished(w, w->deliveries);
}
