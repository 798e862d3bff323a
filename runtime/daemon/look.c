/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking paths up. Must not know what they are for. */
#include "runtime/daemon/look.h"

#include <errno.h>

#include "runtime/daemon/daemon.h"

/* A hand that did not answer is left to itself. */
static void lose_hand(struct scribe_look *l)
{
	scribe_hand_stop(&l->hand);
	l->has_hand = false;
	l->next_ns = scribe_now_ns() + (SCRIBE_LOOK_REST_NS << l->lost++);
}

int scribe_look_open(void *work, int root_fd, const char *path, bool nofollow)
{
	struct scribe_work *w = work;
	struct scribe_look *l = &w->look;
	struct scribe_err err;
	int fd = -ETIMEDOUT;

	if (!l->has_hand && l->lost < SCRIBE_LOOKS_MAX && scribe_now_ns() >= l->next_ns) {
		fd = scribe_work_start_hand(w, &l->hand, &err);
		l->has_hand = true;
		if (fd < 0)
			lose_hand(l);
	}
	if (l->has_hand) {
		fd = scribe_hand_look(&l->hand, root_fd, path, nofollow, SCRIBE_LOOK_MS);
		if (l->hand.sock < 0)
			lose_hand(l);
	}
	l->missing += !l->has_hand;
	return fd;
}

void scribe_look_end(struct scribe_work *w)
{
	if (w->look.has_hand)
		scribe_hand_stop(&w->look.hand);
	w->look.has_hand = false;
}
