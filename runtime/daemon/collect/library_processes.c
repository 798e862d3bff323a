// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a process is searched for when it is about to run or has begun to: the libraries that it
 * needs, and those that it has mapped. Each function forms a search and gives it to the queue
 * (library_queue.c). Nothing is owned: a search is copied by the queue. Main thread of the daemon.
 * Must not know how searches are done, of records or logs.
 */
#include "runtime/daemon/collect/library_queue.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/daemon/journal/job_journal.h"
#include "uprobes/tables/probes.h"

/* A file as known of; false: it cannot be told. */
static bool stat_at(const char *path, struct stat *ret)
{
	int fd = open(path, O_PATH | O_CLOEXEC), rc;

	if (fd < 0)
		return false;
	rc = scribe_uprobes_stat(fd, ret);
	close(fd);
	return rc == 0;
}

/*
 * Before `ioscribe run`'s command is enrolled. True: nothing is searched for, it can begin; else
 * the client is resumed later.
 */
bool scribe_libs_before(struct scribe_daemon *d, struct scribe_job *job, pid_t pid, uint32_t words, uint64_t client)
{
	struct scribe_library_search k = {.then = SCRIBE_SEEK_ENROL,
				.job = job->index,
				.client = client,
				.search = {.what = SCRIBE_SEARCH_COMMAND, .pid = pid, .words = words}};

	if (!d->libs)
		return true;
	k.search.any = d->libs->everything;
	scribe_libs_search(d, job, &k);
	return false;
}

/* The daemon's own root directory, by device and inode. */
static bool same_root(pid_t pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/", (int)pid);
	return stat_at("/", &ours) && stat_at(path, &its) && ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

/* What a file is that it has mapped, and where it lies in the process. */
static void seek_mapping(struct scribe_daemon *d, struct scribe_process *p, uint64_t dev, uint64_t ino,
			 uint64_t when_ns, const char *name)
{
	struct scribe_library_search k = {.then = SCRIBE_SEEK_JUDGE,
				.job = p->job->index,
				.proc_id = p->proc_id,
				.when_ns = when_ns,
				.dev = dev,
				.search = {.what = SCRIBE_SEARCH_MAPPED, .pid = p->tgid, .inode = ino}};

	snprintf(k.name, sizeof(k.name), "%s", name);
	scribe_libs_search(d, p->job, &k);
}

void scribe_libs_exec(struct scribe_daemon *d, struct scribe_process *p, uint64_t when_ns)
{
	struct scribe_library_search k = {.then = SCRIBE_SEEK_ATTACH,
				.job = p->job->index,
				.search = {.what = SCRIBE_SEARCH_PROGRAM, .pid = p->tgid}};
	struct scribe_libs *l = d->libs;
	char exe[64];
	struct stat st;

	p->counted_inside = 0;
	if (!l)
		return;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", p->tgid);
	if (!stat_at(exe, &st))
		return;
	/* below another root its names mean other files: those are found when it maps them */
	if (same_root(p->tgid))
		scribe_libs_search(d, p->job, &k);
	/* a library that is linked into it may be called at once */
	if (when_ns && !scribe_uprobes_known(l->uprobes, st.st_dev, st.st_ino))
		seek_mapping(d, p, st.st_dev, st.st_ino, when_ns, "");
}

/* A file that is probed since before the mapping needs no search: that is the common case. */
void scribe_libs_mapped(struct scribe_daemon *d, struct scribe_process *p, uint64_t dev, uint64_t ino,
			uint64_t when_ns, const char *name)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f;

	if (!strcmp(name, SCRIBE_INSIDE_NAME))
		p->wrap_state = SCRIBE_WRAP_LOADED;
	if (!l)
		return;
	/* the kernel's form of a device number is another than stat's */
	dev = makedev(dev >> 20, dev & 0xfffff);
	f = scribe_uprobes_known(l->uprobes, dev, ino);
	/* every program has it; whoever does not come to use MPI does not call it */
	if (!f && !scribe_uprobes_attached(l->uprobes) && !strcmp(name, SCRIBE_INSIDE_NAME))
		return;
	if (f && scribe_libs_since(d, p, f, name) <= when_ns)
		return;
	seek_mapping(d, p, dev, ino, when_ns, name);
}

/* The process began before programs were attached: all that it has mapped is examined. */
void scribe_libs_late(struct scribe_daemon *d, struct scribe_process *p)
{
	const struct scribe_library_search k = {.then = SCRIBE_SEEK_LATE,
				      .job = p->job->index,
				      .proc_id = p->proc_id,
				      .search = {.what = SCRIBE_SEARCH_MAPS, .pid = p->tgid}};

	if (d->libs)
		scribe_libs_search(d, p->job, &k);
}

void scribe_libs_resumed(struct scribe_daemon *d, struct scribe_process *p)
{
	/* of probes that an earlier daemon has left each mapping is judged when it is told */
	if (d->libs && !scribe_uprobes_adopted(d->libs->uprobes))
		scribe_libs_late(d, p);
}
