// SPDX-License-Identifier: BSD-3-Clause
/*
 * A read lease on each probed file delays writers until its probes are off: a breakpoint at an old address of
 * new code would kill every program that executes it. Main thread. Must not know: processes, names, logs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uprobes/attach/attach_state.h"

int scribe_lease_take(struct scribe_uprobes *u, int fd, const struct scribe_uprobed *f)
{
	const struct f_owner_ex us = {F_OWNER_TID, gettid()};
	struct scribe_lease *more = realloc(u->lease, (u->nleases + 1) * sizeof(*more));
	int held;

	if (!more)
		return -ENOMEM;
	u->lease = more;
	held = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* SIGIO wakes the loop, which then checks all leases */
	if (held >= 0 && (fcntl(held, F_SETOWN_EX, &us) < 0 || fcntl(held, F_SETLEASE, F_RDLCK) < 0)) {
		int rc = -errno;

		close(held);
		return rc;
	}
	if (held < 0)
		return -errno;
	u->lease[u->nleases++] = (struct scribe_lease){.fd = held, .dev = f->dev, .ino = f->ino};
	return 0;
}

static bool has_links(const struct scribe_uprobes *u, const struct scribe_lease *l)
{
	for (size_t i = 0; i < u->nlinks; i++)
		if (u->link[i].fd >= 0 && u->link[i].ino == l->ino && u->link[i].dev == l->dev)
			return true;
	/* links under way are detached when made */
	return scribe_uprobes_busy_with(u, l->dev, l->ino) || (u->opt.link_maker && u->opt.link_maker->dropping());
}

static void release(struct scribe_lease *l)
{
	(void)fcntl(l->fd, F_SETLEASE, F_UNLCK);
	/* A duplicate of the descriptor could keep the lease after a close. */
	close(l->fd);
}

/* The kernel allows /proc/sys/fs/lease-break-time seconds. */
uint64_t scribe_uprobes_give_way(struct scribe_uprobes *u)
{
	uint64_t modules = 0;

	u->gives_way = false;
	for (size_t i = u->nleases; i-- > 0;) {
		struct scribe_lease *l = &u->lease[i];
		const struct scribe_uprobed *f = scribe_uprobes_known(u, l->dev, l->ino);

		if (f && f->modules && fcntl(l->fd, F_GETLEASE) != F_RDLCK) {
			/* Any other type means that a writer is waiting. */
			modules |= f->modules;
			scribe_uprobes_forget(u, (size_t)(f - u->seen));
			scribe_pinned_anew(u);
			f = NULL;
		}
		if (f && f->modules)
			continue;
		/* the writer waits until scribe_uprobes_detach_one has detached these */
		if (has_links(u, l)) {
			u->gives_way = true;
			continue;
		}
		release(l);
		*l = u->lease[--u->nleases];
	}
	return modules;
}

void scribe_leases_end(struct scribe_uprobes *u)
{
	while (u->nleases)
		release(&u->lease[--u->nleases]);
	free(u->lease);
	u->lease = NULL;
}
