/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FETCH and DONE at MPI_Finalize. A rank's records are taken when its FETCH is served, so that its later I/O is
 * not in its image; they are sent when all ranks of this node have sent FETCH. Never blocks. The connection
 * owns answer, descriptor and the helper for the directory.
 */
#include "runtime/daemon/control/rank_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/events/drain.h"
#include "runtime/daemon/events/events.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/node_parts.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/job_nodes.h"

#define IMAGES_NS 20000000ull /* per loop iteration */

enum arrival { ARRIVAL_WAIT, ARRIVAL_ALL, ARRIVAL_NEVER };

static enum arrival arrival_of(const struct scribe_log_unit *u)
{
	enum arrival a = ARRIVAL_ALL;

	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (!r || r->state == SCRIBE_RANK_FETCHED || r->state == SCRIBE_RANK_DONE)
			continue;
		if (r->state == SCRIBE_RANK_FAILED || !r->live)
			return ARRIVAL_NEVER;
		a = ARRIVAL_WAIT;
	}
	return a;
}

bool scribe_fetch_in_vain(const struct scribe_log_unit *u)
{
	return arrival_of(u) == ARRIVAL_NEVER;
}

/* Moves the records of all processes of the rank to `fetched`. */
static int take_records(struct scribe_daemon *d, struct scribe_log_unit *u, struct scribe_rank *r)
{
	for (struct scribe_process *p = u->first; p; p = p->next)
		if (p->rank == r && !p->ended && !p->leaving && scribe_drain_living(d, p) < 0)
			return -ENOMEM;
	if (!r->records)
		r->records = scribe_records_new();
	r->fetched = r->records;
	r->records = NULL;
	return r->fetched ? 0 : -ENOMEM;
}

static int give_up(struct scribe_daemon *d, struct scribe_client *c, struct scribe_process *p, const char *why)
{
	/* other ranks stop waiting for a failed one; its thread is recorded again */
	p->rank->state = SCRIBE_RANK_FAILED;
	scribe_client_ignore_thread(d, p, 0);
	return scribe_client_refuse(c, SCRIBE_ST_FAILED, why);
}

static int fetch(struct scribe_daemon *d, struct scribe_client *c, struct scribe_process *p)
{
	static struct scribe_msg_fetch_ok ok;
	struct scribe_log_unit *u = p->unit;
	struct scribe_err err = {0};
	int fd;

	memset(&ok, 0, sizeof(ok));
	if (!u->base_ns)
		u->base_ns = u->start_ns;
	if (take_records(d, u, p->rank) < 0)
		return give_up(d, c, p, "the daemon is out of memory");
	if (c->preparing)
		snprintf(ok.path, sizeof(ok.path), "%s", c->preparing->path);
	ok.mem_align = p->job->config.mem_alignment;
	fd = scribe_commit_image(p->job, u, p->rank, &ok.image_bytes, &ok.partial, &err);
	if (fd >= 0)
		c->answer = malloc(sizeof(ok));
	if (!c->answer) {
		if (fd >= 0)
			close(fd);
		return give_up(d, c, p, fd >= 0 ? "the daemon is out of memory" : err.text);
	}
	*c->answer = ok;
	c->image = fd;
	p->rank->state = SCRIBE_RANK_FETCHED;
	return 0;
}

int scribe_fetch_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_fetch *m)
{
	struct scribe_process *p = scribe_client_peer(d, c);

	if (!p || c->rank < 0 || c->answer || c->fetching || p->rank->rank != c->rank ||
	    p->rank->state != SCRIBE_RANK_HELLO)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "FETCH out of turn");
	if (arrival_of(p->unit) == ARRIVAL_NEVER) {
		p->rank->state = SCRIBE_RANK_FAILED;
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "a rank of this world has ended or failed");
	}
	/* from here on the thread's I/O is the runtime's own */
	scribe_client_ignore_thread(d, p, m->tid);
	c->fetching = true;
	/* only checks that are pending now are awaited */
	c->waits_for = p->job->exclusion.asked;
	return 0;
}

/* -EAGAIN: the file system is busy. Other errors: the daemon writes the log. */
static int prepare(struct scribe_client *c, struct scribe_process *p, struct scribe_err *err)
{
	struct scribe_log_unit *u = p->unit;
	struct scribe_preparing *at = c->preparing;
	int rc;

	if (c->rank != 0 || (u->partial && !at))
		return 0;
	if (!at) {
		at = c->preparing = calloc(1, sizeof(*at));
		if (!at)
			return scribe_err_set(err, -ENOMEM, "out of memory");
		at->helper = (struct scribe_helper){.pid = -1, .sock = -1};
		rc = scribe_node_parts_unit(p->job, u)
			     ? scribe_parts_unit_path(p->job, u, SCRIBE_PART_RANKS, at->path, sizeof(at->path))
			     : scribe_log_path_partial(p->job, u, at->path, sizeof(at->path), err);
		/* the log's name even if the rank stops waiting */
		if (rc == 0 && !(u->partial = strdup(at->path)))
			rc = scribe_err_set(err, -ENOMEM, "out of memory");
		if (rc < 0)
			return rc;
	}
	rc = scribe_log_path_prepare(p->job, u, at, err);
	if (rc < 0 && rc != -EAGAIN) {
		free(u->partial);
		u->partial = NULL;
	}
	return rc;
}

static void end_preparing(struct scribe_client *c)
{
	if (c->preparing)
		scribe_helper_stop(&c->preparing->helper);
	free(c->preparing);
	c->preparing = NULL;
}

/* Exclusion checks, then the directory, then the records. */
static void go_on(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_process *p = c->job ? scribe_worlds_find(&c->job->worlds, c->proc_id) : NULL;
	bool lives = p && !p->ended && !p->waits_for && p->rank->state == SCRIBE_RANK_HELLO;
	struct scribe_err err = {0};
	int rc = -EPROTO;

	if (lives && (p->held || c->job->exclusion.answered < c->waits_for))
		return;
	if (lives)
		rc = prepare(c, p, &err);
	if (rc == -EAGAIN) {
		d->poll_fast = true;
		return;
	}
	c->fetching = false;
	if (!lives)
		rc = scribe_client_refuse(c, SCRIBE_ST_REFUSED, "FETCH out of turn");
	else
		rc = rc < 0 ? give_up(d, c, p, err.text) : fetch(d, c, p);
	end_preparing(c);
	if (rc < 0)
		scribe_client_hang_up(d, c);
}

void scribe_fetch_drop(struct scribe_client *c)
{
	end_preparing(c);
	if (!c->answer)
		return;
	close(c->image);
	free(c->answer);
	c->answer = NULL;
}

static bool any_fetches(const struct scribe_daemon *d)
{
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		if (c->fetching && !c->gone)
			return true;
	return false;
}

void scribe_fetch_answer_ready(struct scribe_daemon *d)
{
	const uint64_t until = scribe_now_ns() + IMAGES_NS;

	/* names that other threads of the rank have just opened */
	if (any_fetches(d))
		scribe_events_take(d, SCRIBE_EVENTS_NS, NULL);
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		struct scribe_process *p;
		enum arrival a;
		int rc;

		if (c->fetching && !c->gone && (!c->job || !c->job->held.first) && scribe_now_ns() < until)
			go_on(d, c);
		d->poll_fast = d->poll_fast || (c->fetching && !c->gone);
		if (!c->answer || c->gone)
			continue;
		p = c->job ? scribe_worlds_find(&c->job->worlds, c->proc_id) : NULL;
		a = p && !p->ended ? arrival_of(p->unit) : ARRIVAL_NEVER;
		if (a == ARRIVAL_WAIT)
			continue;
		if (a == ARRIVAL_ALL)
			rc = scribe_send_queue_send(&c->send_queue, c->fd, SCRIBE_MSG_FETCH_OK, 0, c->answer,
						    sizeof(*c->answer), c->image);
		else
			rc = scribe_client_refuse(c, SCRIBE_ST_REFUSED, "a rank of this world has ended or failed");
		scribe_fetch_drop(c);
		if (rc < 0)
			scribe_client_hang_up(d, c);
	}
}

int scribe_fetch_done(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_done *m)
{
	struct scribe_process *p = scribe_client_peer(d, c);
	bool ok = m->ok == 1;

	if (!p || c->rank < 0 || p->rank->rank != c->rank || p->rank->state != SCRIBE_RANK_FETCHED)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "DONE out of turn");
	if (c->rank == 0 && (!p->unit->partial || strcmp(m->path, p->unit->partial)))
		ok = false;
	/* used or not: decided at commit */
	scribe_client_ignore_thread(d, p, 0);
	p->rank->state = ok ? SCRIBE_RANK_DONE : SCRIBE_RANK_FAILED;
	return scribe_client_send(c, SCRIBE_MSG_DONE_OK, NULL, 0);
}
