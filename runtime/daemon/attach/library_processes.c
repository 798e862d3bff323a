// SPDX-License-Identifier: BSD-3-Clause
/*
 * Searches for a process that starts, or has mapped a file, passed to the queue (library_queue.c).
 * Must not know how searches work.
 */
#include "runtime/daemon/attach/library_queue.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "runtime/daemon/journal/job_journal.h"
#include "uprobes/tables/probes.h"

/* True: start now. */
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

void scribe_libs_exec(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_process_look *at,
		      uint64_t when_ns)
{
	struct scribe_library_search k = {.then = SCRIBE_SEEK_ATTACH,
					  .job = p->job->index,
					  .search = {.what = SCRIBE_SEARCH_PROGRAM, .pid = p->tgid}};
	struct scribe_libs *l = d->libs;

	p->counted_inside = 0;
	if (!l || !at->program.inode)
		return;
	/* paths below another root are other files: wait until these are mapped */
	if (scribe_is_same_file(at->root, scribe_file_number("/")))
		scribe_libs_search(d, p->job, &k);
	/* calls of a linked-in library need no mapping */
	if (when_ns && !scribe_uprobes_known(l->uprobes, at->program.device, at->program.inode))
		seek_mapping(d, p, at->program.device, at->program.inode, when_ns, "");
}

void scribe_libs_mapped(struct scribe_daemon *d, struct scribe_process *p, uint64_t dev, uint64_t ino, uint64_t when_ns,
			const char *name)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f;

	if (!strcmp(name, SCRIBE_INSIDE_NAME))
		p->wrap_state = SCRIBE_WRAP_LOADED;
	if (!l)
		return;
	/* the kernel encodes device numbers differently from stat */
	dev = makedev(dev >> 20, dev & 0xfffff);
	f = scribe_uprobes_known(l->uprobes, dev, ino);
	/* the wrapper is in every program, and matters only with MPI */
	if (!f && !scribe_uprobes_attached(l->uprobes) && !strcmp(name, SCRIBE_INSIDE_NAME))
		return;
	/* the common case: probed before it was mapped */
	if (f && scribe_libs_since(d, p, f, name) <= when_ns)
		return;
	seek_mapping(d, p, dev, ino, when_ns, name);
}

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
	/* with adopted probes each MAP event is checked */
	if (d->libs && !scribe_uprobes_adopted(d->libs->uprobes))
		scribe_libs_late(d, p);
}
