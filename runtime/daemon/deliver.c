/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a unit that is over to a file: the ranks' own log is fetched, the log is
 * built in memory, put to its place, else to the fallback. One at a time a job.
 * Must not know what logs hold.
 */
#include "runtime/daemon/deliver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/attrs.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/notice.h"
#include "runtime/daemon/spool.h"

enum stage { STAGE_FETCH, STAGE_LOOK, STAGE_BUILD, STAGE_DAYS, STAGE_PUT, STAGE_ELSEWHERE, STAGE_SPOOL };

struct scribe_delivery {
	struct scribe_unit *unit;
	size_t m;
	enum stage stage;
	bool asked;
	int theirs;                    /* copy of the ranks' log; -1 none */
	int log;                       /* the finished log; -1 not yet */
	struct scribe_hand root;       /* makes the directories that are not the user's */
	char partial[SCRIBE_PATH_MAX]; /* where it is written first */
	char wanted[SCRIBE_PATH_MAX];  /* its place */
	struct scribe_err err;         /* of its place */
	struct scribe_delivery *next;
};

static struct scribe_msg_log *message(struct scribe_work *w, const struct scribe_delivery *v)
{
	return &w->log[v->m];
}

void scribe_deliver_unit(struct scribe_work *w, struct scribe_unit *u, size_t m)
{
	struct scribe_delivery *v = calloc(1, sizeof(*v)), **at = &w->deliveries;

	if (!v) {
		snprintf(w->log[m].text, sizeof(w->log[m].text), "out of memory");
		return;
	}
	v->unit = u;
	v->m = m;
	v->theirs = -1;
	v->log = -1;
	v->root = (struct scribe_hand){.pid = -1, .sock = -1};
	v->stage = scribe_commit_agreed(u) ? STAGE_FETCH : STAGE_LOOK;
	while (*at)
		at = &(*at)->next;
	*at = v;
}

static void finished(struct scribe_work *w, struct scribe_delivery *v)
{
	w->deliveries = v->next;
	scribe_hand_stop(&v->root);
	scribe_keep_committed(w, v->unit, message(w, v));
	if (v->theirs >= 0)
		close(v->theirs);
	if (v->log >= 0)
		close(v->log);
	free(v);
}

static void failed(struct scribe_work *w, struct scribe_delivery *v)
{
	snprintf(message(w, v)->text, sizeof(message(w, v)->text), "%s", v->err.text);
	snprintf(message(w, v)->path, sizeof(message(w, v)->path), "%s", v->wanted);
	finished(w, v);
}

/* The ranks' log: a copy, made by the hand. -1 in theirs: there is none that could be read. */
static void fetch(struct scribe_work *w, struct scribe_delivery *v)
{
	int rc;

	if (!v->asked) {
		v->theirs = memfd_create("ioscribe-ranks", MFD_CLOEXEC);
		rc = v->theirs < 0 ? -errno
				   : scribe_hand_fetch(&w->hand, v->unit->partial, v->theirs,
						       w->config.write_deadline_ms);
		v->asked = rc == 0;
		if (rc == 0)
			return;
	} else if (!scribe_hand_answered(&w->hand, &rc)) {
		return;
	}
	if (rc < 0 && v->theirs >= 0) {
		close(v->theirs);
		v->theirs = -1;
	}
	v->asked = false;
	v->stage = STAGE_LOOK;
}

/* Files are asked once more what they say of themselves, as far as they answer in time. */
static void look(struct scribe_work *w, struct scribe_delivery *v)
{
	if (!v->asked)
		scribe_attrs_again(w, v->unit, v->theirs);
	v->asked = !scribe_attrs_settled(w);
	if (!v->asked)
		v->stage = STAGE_BUILD;
}

static void build(struct scribe_work *w, struct scribe_delivery *v)
{
	struct scribe_msg_log *m = message(w, v);
	int rc;

	v->log = memfd_create("ioscribe-log", MFD_CLOEXEC);
	rc = v->log < 0 ? scribe_err_set(&v->err, -errno, "cannot make a memory file: %s", strerror(errno))
			: scribe_commit_build(w, v->unit, v->theirs, v->log, v->partial, m, &v->err);
	snprintf(v->wanted, sizeof(v->wanted), "%s", m->path);
	scribe_commit_forget(w, v->unit);
	if (rc < 0)
		failed(w, v);
	else
		v->stage = STAGE_DAYS;
}

/* Ask for it, or look for the answer. False: not yet. */
static bool put_at(struct scribe_delivery *v, struct scribe_hand *h, const struct scribe_hand_put *put,
		   uint32_t deadline_ms, int *ret_rc)
{
	if (v->asked)
		return scribe_hand_answered(h, ret_rc);
	*ret_rc = scribe_hand_put(h, put, deadline_ms);
	v->asked = *ret_rc == 0;
	return *ret_rc < 0 && *ret_rc != -EBUSY;
}

static void no_place(struct scribe_work *w, struct scribe_delivery *v, int rc)
{
	scribe_err_set(&v->err, rc, "cannot write %.400s: %s", v->wanted,
		       rc == -ETIMEDOUT ? "no answer in time" : strerror(-rc));
	if (w->daemon->service)
		scribe_notice_no_place(w->config.uid, v->err.text);
	v->stage = w->daemon->spool ? STAGE_SPOOL : STAGE_ELSEWHERE;
}

/* A service's directories of the date are root's. Where that cannot be, the user's hand does what it may. */
static void days(struct scribe_work *w, struct scribe_delivery *v)
{
	size_t shared = w->daemon->spool ? scribe_place_shared(w, v->wanted) : 0;
	int rc = 0;

	if (shared && !v->asked) {
		rc = scribe_hand_start(&v->root, geteuid(), getegid(), "", &v->err);
		if (rc == 0)
			rc = scribe_hand_days(&v->root, v->wanted, shared, w->config.write_deadline_ms);
		v->asked = rc == 0;
		if (v->asked)
			return;
	} else if (shared && !scribe_hand_answered(&v->root, &rc)) {
		return;
	}
	scribe_hand_stop(&v->root);
	v->asked = false;
	v->stage = STAGE_PUT;
	if (rc == -ETIMEDOUT) /* the user's hand would hang there as long again */
		no_place(w, v, rc);
}

static void put(struct scribe_work *w, struct scribe_delivery *v)
{
	char fresh[SCRIBE_PATH_MAX];
	const char *theirs = v->unit->partial;
	struct scribe_hand_put put = {
		.fd = v->log,
		.partial = fresh,
		.to = v->wanted,
		.replace = w->config.log_file[0] != 0,
		.mkdirs = !w->config.log_file[0],
		.own = (unsigned)scribe_place_own(w, v->wanted),
		.drop = theirs,
	};
	int rc;

	/* the ranks' file may stand under the partial name until ours is complete */
	snprintf(fresh, sizeof(fresh), "%.4000s%s", v->partial, theirs ? "_new" : "");
	if (!put_at(v, &w->hand, &put, w->config.write_deadline_ms, &rc))
		return;
	v->asked = false;
	if (rc == 0)
		finished(w, v);
	else
		no_place(w, v, rc);
}

/* Not where it was wanted: it is at `path`, or nowhere. */
static void ended_at(struct scribe_work *w, struct scribe_delivery *v, const char *path, int rc)
{
	v->asked = false;
	if (rc < 0) {
		failed(w, v);
		return;
	}
	strcpy(message(w, v)->path, path);
	finished(w, v);
}

/* The place has become impossible (full, gone, hung): better a log elsewhere than none. */
static void elsewhere(struct scribe_work *w, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX];
	struct scribe_hand_put put = {.fd = v->log, .partial = fresh, .to = path, .replace = true};
	int rc = scribe_place_fallback(v->wanted, path, sizeof(path));

	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (!v->asked && rc == 0 && w->hand.sock < 0)
		rc = scribe_work_fresh_hand(w, NULL);
	if (rc == 0 && !put_at(v, &w->hand, &put, w->config.write_deadline_ms, &rc))
		return;
	ended_at(w, v, path, rc);
}

static void spool(struct scribe_work *w, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX], note[SCRIBE_PATH_MAX + 256];
	struct scribe_hand_put put = {.fd = v->log, .partial = fresh, .to = path, .note = note};
	struct scribe_hand *h = scribe_spool_hand(w->daemon->spool);
	int rc = scribe_spool_name(w->daemon->spool, w, v->wanted, path, sizeof(path), note, sizeof(note));

	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (rc == 0 && !put_at(v, h, &put, w->config.write_deadline_ms, &rc))
		return;
	ended_at(w, v, path, rc);
}

void scribe_deliver_tick(struct scribe_work *w)
{
	static void (*const steps[])(struct scribe_work *, struct scribe_delivery *) = {
		[STAGE_FETCH] = fetch, [STAGE_LOOK] = look, [STAGE_BUILD] = build,         [STAGE_DAYS] = days,
		[STAGE_PUT] = put,     [STAGE_ELSEWHERE] = elsewhere, [STAGE_SPOOL] = spool,
	};
	struct scribe_delivery *v = w->deliveries;

	if (!v)
		return;
	(void)scribe_work_hand(w, NULL); /* without one, what it is asked fails, and says so */
	/* as far as it goes without waiting; the next one at the next tick */
	for (bool moved = true; moved && w->deliveries == v;) {
		enum stage stage = v->stage;
		bool asked = v->asked;

		steps[stage](w, v);
		moved = w->deliveries == v && (v->stage != stage || v->asked != asked);
	}
}

bool scribe_deliver_busy(const struct scribe_work *w)
{
	return w->deliveries != NULL;
}

void scribe_deliver_clear(struct scribe_work *w)
{
	while (w->deliveries)
		finished(w, w->deliveries);
}
