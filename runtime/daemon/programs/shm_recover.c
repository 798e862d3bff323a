// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reading an address space takes a lock that its user can hold for any time: a child does it, and is killed
 * when it sends nothing. It sends the number of each process first, so that a stuck one is known. At the
 * daemon's start, which waits. Must not know what is counted.
 */
#include "runtime/daemon/programs/shm_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/programs/shm_counters.h"

#define MEMORY_NAME "/memfd:ioscribe-streams (deleted)" /* in /proc/PID/maps */
/* ms without a message after which the child is killed */
#define SILENT_MS  200
#define SILENT_MAX 5 /* stuck processes per user; others are skipped then */

struct scan {
	const pid_t *pid;
	size_t n;
	dev_t device;
};

/*
 * Users' files may have any name, and opening them may hang. memfd_create() has an internal mount of tmpfs, which
 * users cannot reach: its device identifies our files.
 */
static dev_t memory_device(void)
{
	int fd = memfd_create("ioscribe-device", MFD_CLOEXEC);
	struct stat st = {0};

	if (fd >= 0) {
		(void)fstat(fd, &st);
		close(fd);
	}
	return st.st_dev;
}

static void scan_process(int to, const struct scan *l, size_t which)
{
	char path[96], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)l->pid[which]);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		unsigned major, minor;
		int fd;

		if (!strstr(line, MEMORY_NAME) ||
		    sscanf(line, "%lx-%lx %*s %*s %x:%x", &start, &end, &major, &minor) != 4 ||
		    makedev(major, minor) != l->device)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)l->pid[which], start, end);
		/* map_files leads to the mapped file itself, whatever its name */
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			(void)scribe_helper_send(to, &which, sizeof(which), fd);
		else if (errno != ENOENT)
			fprintf(stderr,
				"ioscribed: %s: %s: what process %d has counted itself cannot be "
				"reached\n",
				path, strerror(errno), (int)l->pid[which]);
		if (fd >= 0)
			close(fd);
	}
	if (maps)
		fclose(maps);
}

static _Noreturn void scan(int to, const struct scan *l, size_t from)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = from; i < l->n && scribe_helper_send(to, &i, sizeof(i), -1) == 0; i++)
		scan_process(to, l, i);
	_exit(0);
}

/* Returns the process at which a child got stuck, or `n`. */
static size_t take(struct scribe_daemon *d, const struct scribe_job *job, const struct scan *l, size_t from)
{
	int ends[2], fd = -1, rc;
	size_t at = from;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return l->n;
	pid = fork();
	if (pid == 0)
		scan(ends[1], l, from);
	close(ends[1]);
	while ((rc = pid > 0 ? scribe_helper_recv_within(ends[0], &at, sizeof(at), &fd, SILENT_MS) : -EPIPE) == 0)
		if (fd >= 0)
			scribe_shm_counters_found(d, job, fd);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return rc == -ETIMEDOUT ? at : l->n;
}

/* Counts a stuck process. */
static bool too_many(uid_t uid)
{
	static struct silent {
		uid_t uid;
		unsigned n;
	} silent[16];

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		if (silent[i].n && silent[i].uid != uid)
			continue;
		silent[i].uid = uid;
		return ++silent[i].n > SILENT_MAX;
	}
	return true;
}

void scribe_shm_recover(struct scribe_daemon *d, struct scribe_job *job)
{
	struct scan l = {.device = memory_device()};
	pid_t *pid = NULL;
	size_t capacity = 0;

	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next) {
			if (p->ended || !p->tgid)
				continue;
			if (l.n == capacity) {
				pid_t *more = realloc(pid, (capacity ? 2 * capacity : 64) * sizeof(*more));

				if (!more)
					break;
				pid = more;
				capacity = capacity ? 2 * capacity : 64;
			}
			pid[l.n++] = p->tgid;
		}
	l.pid = pid;
	for (size_t at = 0; at < l.n; at++) {
		at = take(d, job, &l, at);
		if (at == l.n)
			break;
		fprintf(stderr,
			"ioscribed: process %d does not let itself be looked at: what it has counted itself "
			"cannot be reached\n",
			(int)pid[at]);
		if (too_many(job->config.uid))
			break;
	}
	free(pid);
}
