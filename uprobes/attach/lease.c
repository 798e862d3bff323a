// SPDX-License-Identifier: BSD-3-Clause
/*
 * While a file is probed we hold a read lease of it, so that whoever opens it for writing waits until no
 * probe stands in it. A breakpoint at an old place of new code would end every program that executes it,
 * traced or not. Must not know: processes, names, logs. struct scribe_uprobes owns the leases, a descriptor
 * each. Runs in the daemon's main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uprobes/attach/attach_state.h"

/* Fails also where the file is open for writing, or its file system has no leases. */
int scribe_lease_take(struct scribe_uprobes *u, int fd, const struct scribe_uprobed *f)
{
	const struct f_owner_ex us = {F_OWNER_TID, gettid()};
	struct scribe_lease *more = realloc(u->lease, (u->nleases + 1) * sizeof(*more));
	int held;

	if (!more)
		return -ENOMEM;
	u->lease = more;
	held = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* SIGIO wakes the loop; what it is for is looked for in each turn */
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

/* A lease may be given back only when no breakpoint of the file is left. */
static bool has_links(const struct scribe_uprobes *u, const struct scribe_lease *l)
{
	for (size_t i = 0; i < u->nlinks; i++)
		if (u->link[i].fd >= 0 && u->link[i].ino == l->ino && u->link[i].dev == l->dev)
			return true;
	/* one that is being made, too: it is taken off when it is there */
	return scribe_uprobes_busy_with(u, l->dev, l->ino) || (u->opt.link_maker && u->opt.link_maker->dropping());
}

/* Closing alone would not end the lease while a duplicate of the descriptor is open. */
static void release(struct scribe_lease *l)
{
	(void)fcntl(l->fd, F_SETLEASE, F_UNLCK);
	close(l->fd);
}

/*
 * Returns modules whose calls are missed from now on: those of files that are to be written. The
 * kernel gives a holder /proc/sys/fs/lease-break-time seconds.
 */
uint64_t scribe_uprobes_give_way(struct scribe_uprobes *u)
{
	uint64_t modules = 0;

	u->gives_way = false;
	for (size_t i = u->nleases; i-- > 0;) {
		struct scribe_lease *l = &u->lease[i];
		const struct scribe_uprobed *f = scribe_uprobes_known(u, l->dev, l->ino);

		if (f && f->modules && fcntl(l->fd, F_GETLEASE) != F_RDLCK) {
			modules |= f->modules;
			scribe_uprobes_forget(u, (size_t)(f - u->seen));
			scribe_pinned_anew(u);
			f = NULL;
		}
		if (f && f->modules)
			continue;
		/* whoever waits to write waits until scribe_uprobes_detach_one has taken these off */
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
