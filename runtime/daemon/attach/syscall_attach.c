/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaches programs with the first process of any job, and detaches them attach_linger_ms after the last: idle
 * nodes pay nothing. A flag in the kernel and a file beside the socket announce the state. Must
 * not know how or where programs are attached.
 */
#include "runtime/daemon/attach/syscall_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/journal/job_journal.h"

/* after a failed attempt */
#define RETRY_NS  1000000000ull
#define HOOK_DEEP 8 /* ancestors */
/* a process executed before the programs were attached has started by then */
#define STEADY_NS 2000000000ull
#define SOON_NS   5000000000ull /* for an announced process, at least */

/*
 * The runtime sends START unless this file exists. It is created late: processes in between are known to have
 * waited.
 */
static void report(struct scribe_daemon *d, bool stand)
{
	char path[128];
	int fd;

	if (!d->service || d->calls_reported == stand)
		return;
	d->calls_reported = stand;
	snprintf(path, sizeof(path), "%s/" SCRIBE_SERVICE_ATTACHED, d->service->dir);
	if (!stand) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
}

int scribe_sysattach_now(struct scribe_daemon *d, struct scribe_err *err)
{
	uint64_t now = scribe_now_ns();
	int rc;

	if (d->calls_since_ns) {
		if (now - d->calls_since_ns > STEADY_NS)
			report(d, true);
		return 0;
	}
	if (now < d->calls_retry_ns)
		return scribe_err_set(err, -EAGAIN, "programs could not be attached a moment ago");
	rc = scribe_bpf_attach_calls(d->bpf, err);
	if (rc < 0) {
		d->calls_retry_ns = now + RETRY_NS;
		return rc;
	}
	d->calls_since_ns = now;
	return 0;
}

static void stay(struct scribe_daemon *d, uint64_t least_ns)
{
	uint64_t linger_ns = d->service ? (uint64_t)d->service->config.attach_linger_ms * 1000000 : 0;
	uint64_t until_ns = scribe_now_ns() + (linger_ns > least_ns ? linger_ns : least_ns);

	if (until_ns > d->calls_until_ns)
		d->calls_until_ns = until_ns;
}

int scribe_sysattach_soon(struct scribe_daemon *d, struct scribe_err *err)
{
	int rc = scribe_sysattach_now(d, err);

	stay(d, SOON_NS);
	return rc;
}

/* The kernel counts a process before it checks whether it is late. */
static bool has_processes(const struct scribe_daemon *d)
{
	for (const struct scribe_job *job = d->jobs; job; job = job->next) {
		const struct scribe_job_entry *entry = scribe_bpf_job(d->bpf, job->index);

		if (job->state < SCRIBE_JOB_OVER && entry && __atomic_load_n(&entry->proc_used, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

void scribe_sysattach_tick(struct scribe_daemon *d)
{
	struct scribe_err err = {0};

	scribe_libs_tick(d);
	if (!d->service)
		(void)scribe_libs_detach_one(d); /* about to be written */
	if (!d->bpf || !d->jobs || !d->service)
		return;
	if (d->service->config.attach_at_begin || has_processes(d)) {
		if (scribe_sysattach_now(d, &err) < 0 && err.code != -EAGAIN)
			fprintf(stderr, "ioscribed: %s\n", err.text);
		stay(d, 0);
		(void)scribe_libs_detach_one(d); /* not known any more */
		return;
	}
	if (scribe_now_ns() < d->calls_until_ns)
		return;
	if (d->calls_since_ns) {
		report(d, false);
		/*
		 * The flag is cleared, then the counts are read; a joining process increments its count, then reads
		 * the flag. One side always sees the other.
		 */
		scribe_bpf_calls_complete(d->bpf, false);
		if (has_processes(d)) {
			scribe_bpf_calls_complete(d->bpf, true);
			return;
		}
		d->calls_since_ns = 0;
	}
	scribe_libs_rest(d);
	/* one per iteration: it may take long */
	if (!scribe_bpf_detach_call(d->bpf))
		(void)scribe_libs_detach_one(d);
}

void scribe_sysattach_resume(struct scribe_daemon *d)
{
	bool all = scribe_bpf_calls_attached(d->bpf);

	/* the earlier daemon may have died before it set the flag */
	scribe_bpf_calls_complete(d->bpf, all);
	/* an announced process may still join */
	stay(d, all ? SOON_NS : 0);
	if (all)
		d->calls_since_ns = scribe_now_ns();
}

void scribe_sysattach_end(struct scribe_daemon *d)
{
	d->calls_since_ns = d->calls_until_ns = d->calls_retry_ns = 0;
	report(d, false);
}

/* NULL: ended, or reused. */
static struct scribe_proc *entry_of(const struct scribe_process *p)
{
	return p->ended ? NULL : scribe_bpf_proc_of(p->job->daemon->bpf, p->index, p->proc_id);
}

uint64_t scribe_sysattach_late(const struct scribe_job *job)
{
	uint64_t late = 0;

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (const struct scribe_process *p = u->first; p; p = p->next) {
			const struct scribe_proc *proc = entry_of(p);
			uint32_t flags = proc ? __atomic_load_n(&proc->flags, __ATOMIC_RELAXED) : 0;

			late += (flags & (SCRIBE_PF_LATE | SCRIBE_PF_NOT_RECORDED | SCRIBE_PF_EXITED)) ==
				SCRIBE_PF_LATE;
		}
	return late;
}

bool scribe_sysattach_is_late(const struct scribe_process *p)
{
	const struct scribe_proc *proc = entry_of(p);

	return proc && __atomic_load_n(&proc->flags, __ATOMIC_RELAXED) & SCRIBE_PF_LATE;
}

void scribe_sysattach_waited(const struct scribe_process *p)
{
	struct scribe_proc *proc = entry_of(p);

	if (proc)
		__atomic_fetch_and(&proc->flags, ~(uint32_t)SCRIBE_PF_LATE, __ATOMIC_RELAXED);
}

void scribe_sysattach_spare(struct scribe_process *p)
{
	for (int i = 0; p && i < HOOK_DEEP; i++) {
		p->disabled = true;
		scribe_job_journal_env(p, NULL);
		scribe_bpf_disable(p->job->daemon->bpf, p->index, p->proc_id);
		p = p->parent_serial ? scribe_worlds_find(&p->job->worlds, p->parent_serial) : NULL;
	}
}
