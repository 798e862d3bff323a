// SPDX-License-Identifier: BSD-3-Clause
/* Connections to the store, each narrowed to one user while it is open. Must not know HTTP, nor questions. */
#include "util/cmd/serve/slots.h"

#include <time.h>

#define LOOK_MS 200 /* interval of checking a request's limit */

static struct timespec soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += LOOK_MS * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

/* One that is open for this user, else one that is not open, else the one unused for longest. */
static struct scribe_serve_slot *find(struct scribe_serve *serve, int64_t uid)
{
	struct scribe_serve_slot *best = NULL;
	int of_user = 0;

	for (int i = 0; i < SCRIBE_SERVE_ASKING; i++) {
		struct scribe_serve_slot *s = &serve->slots[i];

		of_user += s->busy && s->uid == uid;
		if (s->busy)
			continue;
		if (s->store && s->uid == uid)
			best = s;
		else if (!best || (best->store && best->uid != uid && (!s->store || s->used_ms < best->used_ms)))
			best = s;
	}
	return of_user < SCRIBE_SERVE_ASKING / 2 ? best : NULL;
}

static int open_slot(struct scribe_serve *serve, struct scribe_serve_slot *s, struct scribe_err *err)
{
	int rc = scribe_store_open(serve->db, true, NULL, NULL, &s->store, err);

	if (rc >= 0 && s->uid != SCRIBE_SERVE_ALL)
		rc = scribe_store_narrow(s->store, s->uid, err);
	if (rc < 0)
		s->store = scribe_store_close(s->store);
	return rc;
}

int scribe_slot_take(struct scribe_serve *serve, const struct scribe_serve_request *r,
		     struct scribe_serve_slot **ret_slot, struct scribe_err *err)
{
	struct scribe_serve_slot *s;
	bool is_other = false;
	int rc = 0;

	pthread_mutex_lock(&serve->lock);
	while (!(s = find(serve, r->uid)) && (rc = scribe_sql_over(&r->limit, "the server is busy", err)) >= 0) {
		const struct timespec until = soon();

		pthread_cond_timedwait(&serve->given, &serve->lock, &until);
	}
	if (s) {
		is_other = s->uid != r->uid;
		s->uid = r->uid; /* counted with the user's others from now on */
		s->busy = true;
	}
	pthread_mutex_unlock(&serve->lock);
	if (!s)
		return rc;
	if (is_other)
		s->store = scribe_store_close(s->store);
	if (!s->store)
		rc = open_slot(serve, s, err);
	if (rc < 0)
		scribe_slot_give(serve, s);
	else
		*ret_slot = s;
	return rc;
}

void scribe_slot_give(struct scribe_serve *serve, struct scribe_serve_slot *s)
{
	pthread_mutex_lock(&serve->lock);
	s->used_ms = scribe_msg_now_ms();
	s->busy = false;
	pthread_cond_broadcast(&serve->given);
	pthread_mutex_unlock(&serve->lock);
}

int scribe_slot_processes(struct scribe_serve *serve, const struct scribe_serve_request *r, struct scribe_err *err)
{
	struct timespec until;
	int rc;

	do {
		rc = scribe_sql_over(&r->limit, "the server is busy", err);
		until = soon();
	} while (rc >= 0 && pthread_mutex_timedlock(&serve->processes, &until));
	return rc;
}

void scribe_slots_close(struct scribe_serve *serve)
{
	for (int i = 0; i < SCRIBE_SERVE_ASKING; i++)
		serve->slots[i].store = scribe_store_close(serve->slots[i].store);
}
