// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links made by other processes, and links to be detached from forgotten files. Main thread; never blocks. Must
 * not know: processes, names, logs.
 */
#include <errno.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "uprobes/attach/attach_state.h"

/* Limits per link: the maker's process must not stay forever. */
#define USERS_MS 1000
#define ROOTS_MS 3000
/* after the deadline, until the result arrives */
#define SLACK_NS 1000000000ull
#define REST_NS  5000000000ull /* until handlers of detached links have ended */

void scribe_uprobes_forget_others(struct scribe_uprobes *u)
{
	bool any = false;

	for (size_t i = u->nseen; i-- > 0;) {
		const struct scribe_uprobed *f = &u->seen[i];
		/* links could not be made: the cause may be gone */
		bool failed = !f->modules && f->refused && f->since_ns == SCRIBE_UPROBED_NEVER;

		if (f->site ? !failed : !f->modules && !f->refused)
			continue;
		any |= f->modules != 0;
		scribe_uprobes_forget(u, i);
	}
	/* before detaching: the next daemon must not adopt these files */
	if (any)
		scribe_pinned_anew(u);
}

static void cut_tables(struct scribe_uprobes *u)
{
	uint32_t nsites = 0, nimages = 0, nplaces = 0;
	size_t n = 0;

	for (size_t i = 0; i < u->nseen; i++) {
		const struct scribe_uprobed *f = &u->seen[i];

		if (!f->modules)
			continue;
		nsites = f->nsites > nsites ? f->nsites : nsites;
		nimages = f->nimages > nimages ? f->nimages : nimages;
		nplaces = f->nplaces > nplaces ? f->nplaces : nplaces;
	}
	for (size_t i = 0; i < u->nlinks; i++)
		if (!u->link[i].orphan)
			u->link[n++] = u->link[i];
	u->nlinks = n;
	u->nsites = nsites;
	u->nimages = nimages;
	u->nplaces = nplaces;
	scribe_pinned_anew(u);
}

bool scribe_uprobes_detach_one(struct scribe_uprobes *u)
{
	bool orphans = false;

	/* One per call, because detaching may block in the kernel. */
	if (u->opt.link_maker && u->opt.link_maker->dropping())
		return true;
	for (size_t i = u->nlinks; i-- > 0;) {
		struct scribe_probe_link *l = &u->link[i];

		orphans |= l->orphan;
		if (l->fd < 0 || !l->orphan)
			continue;
		scribe_probe_link_close(u, l);
		u->rested_ns = scribe_now_ns();
		return true;
	}
	/* Handlers may still use points of detached links. */
	if (orphans && scribe_now_ns() - u->rested_ns > REST_NS)
		cut_tables(u);
	return false;
}

/* NULL: all are made. */
static struct scribe_probe_link *next_of(struct scribe_uprobes *u, const struct scribe_pending *p)
{
	for (size_t i = 0; i < u->nlinks; i++) {
		struct scribe_probe_link *l = &u->link[i];

		if (!l->orphan && l->fd < 0 && l->plan && l->ino == p->ino && l->dev == p->dev)
			return l;
	}
	return NULL;
}

/* -EAGAIN: links are being detached. */
static int ask(struct scribe_uprobes *u, struct scribe_pending *p, const struct scribe_probe_link *l)
{
	uint32_t ms = p->uid ? USERS_MS : ROOTS_MS;

	/* a link not yet detached would count calls twice */
	if (u->opt.link_maker->dropping())
		return -EAGAIN;
	p->asked = u->opt.link_maker->ask(p->fd, u->program_fd[l->layer], l->plan, ms);
	p->until_ns = scribe_now_ns() + ms * 1000000ull + SLACK_NS;
	return p->asked < 0 ? p->asked : 0;
}

/* Fetches the link; -EAGAIN: later. */
static int take(struct scribe_uprobes *u, struct scribe_pending *p, struct scribe_probe_link *l)
{
	int fd = -1, rc = u->opt.link_maker->answered(p->asked, &fd);

	if (rc == -EAGAIN && scribe_now_ns() < p->until_ns)
		return rc;
	close(p->asked);
	p->asked = -1;
	if (rc < 0)
		return rc == -EAGAIN ? -ETIMEDOUT : rc;
	l->fd = fd;
	scribe_probe_link_forget(l);
	u->unpinned = false;
	scribe_pinned_link(u, l);
	p->unpinned |= u->unpinned;
	return 0;
}

/* 0: all links are made; -EAGAIN: later. */
static int go_on(struct scribe_uprobes *u, struct scribe_pending *p)
{
	struct scribe_probe_link *l;
	int rc = 0;

	while (rc == 0 && (l = next_of(u, p)))
		rc = p->asked < 0 ? ask(u, p, l) : take(u, p, l);
	return rc;
}

bool scribe_uprobes_busy(const struct scribe_uprobes *u)
{
	return u->npending || u->gives_way;
}

bool scribe_uprobes_tick(struct scribe_uprobes *u, struct scribe_err *err)
{
	/* Backwards: a finished entry is replaced by the last one. */
	for (size_t i = u->npending; i-- > 0;) {
		struct scribe_pending *p = &u->pending[i];
		int rc = go_on(u, p);

		if (rc == -EAGAIN)
			continue;
		for (size_t k = 0; k < u->nseen; k++) {
			if (u->seen[k].ino != p->ino || u->seen[k].dev != p->dev)
				continue;
			u->unpinned = p->unpinned;
			if (rc == 0)
				scribe_uprobes_made(u, &u->seen[k]);
			else
				scribe_uprobes_refused(u, &u->seen[k], rc, p->label, err);
		}
		scribe_pending_close(p);
		*p = u->pending[--u->npending];
	}
	return u->npending;
}
