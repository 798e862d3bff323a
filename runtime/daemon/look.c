/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking paths up. Must not know what they are for. */
#include "runtime/daemon/look.h"

#include <errno.h>

#include "runtime/daemon/daemon.h"

int scribe_look_open(void *work, int root_fd, const char *path, bool nofollow)
{
	struct scribe_work *w = work;
	const struct scribe_config *c = &w->config;
	struct scribe_look *l = &w->look;
	struct scribe_err err;
	int fd = -ETIMEDOUT;

	if (l->lost < SCRIBE_LOOKS_MAX && scribe_now_ns() >= l->next_ns) {
		fd = l->hand.sock >= 0
			     ? 0
			     : scribe_hand_start(&l->hand, c->uid, c->gid, c->locked ? "" : c->user, &err);
		if (fd == 0)
			fd = scribe_hand_look(&l->hand, root_fd, path, nofollow, SCRIBE_LOOK_MS);
		if (fd < 0 && l->hand.sock < 0)
			l->next_ns = scribe_now_ns() + (SCRIBE_LOOK_REST_NS << l->lost++);
	}
	if (l->hand.sock < 0)
		l->missing++;
	return fd;
}

void scribe_look_end(struct scribe_work *w)
{
	scribe_hand_stop(&w->look.hand);
}
