/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking paths up, and libraries. Must not know what they are for. */
#include "runtime/daemon/look.h"

#include <errno.h>
#include <unistd.h>

#include "runtime/daemon/daemon.h"

/* A hand that did not answer is left to itself. */
static void lose_hand(struct scribe_look *l)
{
	scribe_hand_stop(&l->hand);
	l->has_hand = false;
	l->next_ns = scribe_now_ns() + (SCRIBE_LOOK_REST_NS << l->lost++);
}

static bool have_hand(struct scribe_work *w)
{
	struct scribe_look *l = &w->look;
	struct scribe_err err;

	if (!l->has_hand && l->lost < SCRIBE_LOOKS_MAX && scribe_now_ns() >= l->next_ns) {
		l->has_hand = true;
		if (scribe_work_start_hand(w, &l->hand, &err) < 0)
			lose_hand(l);
	}
	return l->has_hand;
}

int scribe_look_open(void *work, int root_fd, const char *path, bool nofollow)
{
	struct scribe_work *w = work;
	struct scribe_look *l = &w->look;
	int fd = -ETIMEDOUT;

	if (have_hand(w)) {
		fd = scribe_hand_look(&l->hand, root_fd, path, nofollow, SCRIBE_LOOK_MS);
		if (l->hand.sock < 0)
			lose_hand(l);
	}
	l->missing += !l->has_hand;
	return fd;
}

int scribe_look_search(struct scribe_work *w, const struct scribe_search *s, int ms,
		       void (*fn)(void *ctx, const struct scribe_hand_found *f, int fd), void *ctx)
{
	struct scribe_look *l = &w->look;
	struct scribe_hand_found f = {.more = 1};
	int rc = have_hand(w) ? scribe_hand_search(&l->hand, s) : -ETIMEDOUT, fd;
	uint64_t left = (uint64_t)ms * 1000000;

	/* what is done with a file is not the hand's time */
	while (rc == 0 && f.more) {
		uint64_t since = scribe_now_ns();

		rc = scribe_hand_found(&l->hand, &f, &fd, (int)(left / 1000000));
		since = scribe_now_ns() - since;
		left -= since < left ? since : left;
		if (rc == 0 && fd >= 0) {
			if (f.more)
				fn(ctx, &f, fd);
			close(fd);
		}
	}
	if (l->has_hand && l->hand.sock < 0)
		lose_hand(l);
	return rc < 0 ? rc : f.any != 0;
}

void scribe_look_end(struct scribe_work *w)
{
	if (w->look.has_hand)
		scribe_hand_stop(&w->look.hand);
	w->look.has_hand = false;
}
