// SPDX-License-Identifier: BSD-3-Clause
/*
 * When probes stand in libraries: nobody's calls pass them while nobody is traced. What was
 * found in root's files is kept, so that links are made again in a moment. Must not know:
 * processes, names, logs.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "uprobes/attach/attach_state.h"

/* For one link, by a process that nobody waits for: it is not to stay for good. */
#define USERS_MS 1000
#define ROOTS_MS 3000
#define SLACK_NS 1000000000ull
#define REST_NS  5000000000ull /* until nobody is in a handler of a link that was taken off */

/* The descriptor that is kept of it; -1 none. */
static int file_of(const struct scribe_uprobes *u, const struct scribe_uprobed *f)
{
	for (size_t i = 0; i < u->nlinks; i++) {
		const struct scribe_probe_link *l = &u->link[i];

		if (!l->orphan && l->file >= 0 && l->ino == f->ino && l->dev == f->dev)
			return l->file;
	}
	return -1;
}

bool scribe_uprobes_stand(struct scribe_uprobes *u, struct scribe_err *err)
{
	bool all = true;

	u->stands = true;
	for (size_t i = u->nseen; i-- > 0;) {
		struct scribe_uprobed *f = &u->seen[i];
		int fd = f->modules && f->since_ns == SCRIBE_UPROBED_NEVER ? file_of(u, f) : -1;
		char link[64], label[256];
		struct stat st;
		ssize_t n;

		if (fd < 0)
			continue;
		if (scribe_uprobes_stat(fd, &st) < 0 || scribe_uprobed_is_changed(f, &st)) {
			scribe_uprobes_forget(u, i);
			all = false;
			continue;
		}
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, label, sizeof(label) - 1);
		label[n > 0 ? n : 0] = 0;
		(void)scribe_uprobes_ready(u, f, fd, label, err);
	}
	return all;
}

bool scribe_uprobes_stands(const struct scribe_uprobes *u)
{
	return u->stands;
}

/* Can all of its links be made again? Not those that an earlier process has made. */
static bool is_ready(const struct scribe_uprobes *u, const struct scribe_uprobed *f)
{
	for (size_t i = 0; i < u->nlinks; i++) {
		const struct scribe_probe_link *l = &u->link[i];

		if (!l->orphan && !l->plan && !l->counts && l->ino == f->ino && l->dev == f->dev)
			return false;
	}
	return true;
}

void scribe_uprobes_rest(struct scribe_uprobes *u)
{
	if (!u->stands)
		return;
	u->stands = false;
	scribe_uprobes_drop_pending(u);
	scribe_pinned_rest(u);
	for (size_t i = u->nseen; i-- > 0;) {
		struct scribe_uprobed *f = &u->seen[i];

		bool failed = f->refused && f->since_ns == SCRIBE_UPROBED_NEVER;

		if (!f->modules && !f->refused)
			continue;
		if (f->modules)
			f->since_ns = SCRIBE_UPROBED_NEVER;
		if (f->uid || failed || (f->modules && !is_ready(u, f)))
			scribe_uprobes_forget(u, i);
	}
}

/* Those of forgotten files are off: what they had at the end of the kernel's tables is free. */
static void cut_tables(struct scribe_uprobes *u)
{
	uint32_t nsites = 0, nimages = 0, nplaces = 0;
	size_t n = 0;

	if (u->stands && u->head_fd >= 0)
		return; /* the next daemon knows what stands by these numbers */
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
	while (u->original.n && u->original.at[u->original.n - 1].image >= nimages)
		u->original.n--;
	if (!u->stands)
		scribe_pinned_rest(u);
}

bool scribe_uprobes_rest_one(struct scribe_uprobes *u)
{
	bool orphans = false;

	if (u->opt.link_maker && u->opt.link_maker->dropping())
		return true;
	for (size_t i = u->nlinks; i-- > 0;) {
		struct scribe_probe_link *l = &u->link[i];

		orphans |= l->orphan;
		if (l->fd < 0 || (u->stands && !l->orphan))
			continue;
		scribe_probe_link_close(u, l);
		u->rested_ns = scribe_now_ns();
		return true;
	}
	if (orphans && scribe_now_ns() - u->rested_ns > REST_NS)
		cut_tables(u);
	return false;
}

void scribe_uprobes_idle(struct scribe_uprobes *u)
{
	struct stat own = {0};

	scribe_uprobes_rest(u);
	for (size_t i = 0; i < u->nlinks; i++)
		scribe_probe_link_close(u, &u->link[i]);
	u->rested_ns = scribe_now_ns();
	/* a file that is held keeps its file system from being taken away */
	(void)stat("/", &own);
	for (size_t i = u->nseen; i-- > 0;)
		if (u->seen[i].modules && u->seen[i].dev != own.st_dev)
			scribe_uprobes_forget(u, i);
}

/* ---- links that others make ---- */

static struct scribe_probe_link *next_of(struct scribe_uprobes *u, const struct scribe_pending *p)
{
	for (size_t i = 0; i < u->nlinks; i++) {
		struct scribe_probe_link *l = &u->link[i];

		if (!l->orphan && l->fd < 0 && l->plan && l->ino == p->ino && l->dev == p->dev)
			return l;
	}
	return NULL;
}

static int ask(struct scribe_uprobes *u, struct scribe_pending *p, const struct scribe_probe_link *l)
{
	uint32_t ms = p->uid ? USERS_MS : ROOTS_MS;

	/* one that is still being taken off would count, too */
	if (u->opt.link_maker->dropping())
		return -EAGAIN;
	p->asked = u->opt.link_maker->ask(p->fd, u->program_fd[l->layer], l->plan, ms);
	p->until_ns = scribe_now_ns() + ms * 1000000ull + SLACK_NS;
	return p->asked < 0 ? p->asked : 0;
}

/* The link that was asked for; -EAGAIN: later. */
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
	u->unpinned = false;
	scribe_pinned_link(u, l);
	p->unpinned |= u->unpinned;
	return 0;
}

/* 0: all of its links are there; -EAGAIN: later. */
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
	return u->npending;
}

bool scribe_uprobes_tick(struct scribe_uprobes *u, struct scribe_err *err)
{
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
		close(p->fd);
		*p = u->pending[--u->npending];
	}
	return u->npending;
}
