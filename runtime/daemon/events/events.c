/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes kernel events in ring order. An event that needs a helper is held, with all later ones of its job.
 * After lost events a sweep reads the kernel's process table. Ended processes are drained one after the other.
 * Must not know logs or sockets.
 */
#include "runtime/daemon/events/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/events/drain.h"
#include "runtime/daemon/events/modules.h"
#include "runtime/daemon/events/name_events.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/lookup/path_lookup.h"
#include "runtime/daemon/operations/budget.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/heatmaps.h"
#include "runtime/daemon/tables/held_events.h"
#include "runtime/daemon/tables/job_env.h"

#define SCRIBE_HIDDEN_EXE "<privileged>"
#define PROXY             "hydra_"   /* hydra_pmi_proxy, hydra_bstrap_proxy */
#define ENV_MAX           (1u << 21) /* bytes of an environment that is read from /proc */

static void fill_from_proc(struct scribe_daemon *d, struct scribe_process *p, uint32_t index, int32_t tgid)
{
	struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, index, p->proc_id);

	p->index = index;
	p->tgid = tgid;
	/* a different proc_id: the table's entry was reused */
	if (proc) {
		p->uid = proc->uid;
		memcpy(p->comm, proc->comm, sizeof(p->comm));
		p->comm[sizeof(p->comm) - 1] = 0;
		if (!tgid)
			p->tgid = (int32_t)proc->tgid;
	}
	if (p->tgid && scribe_map_put(&d->by_tgid, (uint64_t)p->tgid, p) < 0)
		p->job->losses.memory++;
}

/* NULL: out of memory; the process's events are then ignored. */
static struct scribe_process *appear(struct scribe_daemon *d, struct scribe_job *job, uint32_t index, uint32_t proc_id,
				     uint32_t parent, int32_t tgid, uint64_t when_ns)
{
	struct scribe_process *p = scribe_worlds_fork(&job->worlds, proc_id, parent, when_ns);

	if (!p) {
		job->losses.memory++;
		return NULL;
	}
	p->job = job;
	fill_from_proc(d, p, index, tgid);
	scribe_job_journal_process(p);
	scribe_budget_joined(p);
	return p;
}

struct scribe_process *scribe_events_enrolled(struct scribe_daemon *d, struct scribe_job *job, uint32_t index,
					      uint32_t proc_id, pid_t pid)
{
	return appear(d, job, index, proc_id, 0, pid, scribe_now_ns());
}

/* NULL: the job is gone. */
static struct scribe_job *work_of(struct scribe_daemon *d, const struct scribe_event *e)
{
	const struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, e->proc, e->proc_id);

	if (proc)
		return proc->job < SCRIBE_JOBS_MAX ? d->job[proc->job] : NULL;
	/* the process has ended and its table entry was freed */
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (scribe_worlds_find(&job->worlds, e->proc_id))
			return job;
	return NULL;
}

/* From the shared table if the FORK event was lost. */
static struct scribe_process *process_of(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_event *e)
{
	struct scribe_process *p = scribe_worlds_find(&job->worlds, e->proc_id);
	const struct scribe_proc *proc;

	if (p)
		return p;
	proc = scribe_bpf_proc_of(d->bpf, e->proc, e->proc_id);
	if (!proc)
		return NULL;
	return appear(d, job, e->proc, e->proc_id, proc->parent_serial, (int32_t)e->tgid, proc->start_ns);
}

/* A process that has ended keeps its parent's values. */
static void look_at_root(const struct scribe_daemon *d, struct scribe_process *p, const struct scribe_process_look *at)
{
	bool machine = d->root > 0;

	if (!at->root.inode || !at->mounts.inode)
		return;
	/* processes with the same root may have different mounts below it: compare the namespace, too */
	p->own_root_dir =
		scribe_is_same_file(at->root, scribe_file_number(machine ? "/proc/1/root/" : "/")) &&
		scribe_is_same_file(at->mounts, scribe_file_number(machine ? "/proc/1/ns/mnt" : "/proc/self/ns/mnt"));
	p->root_id = p->own_root_dir ? 0
				     : scribe_hash64(&at->root, sizeof(at->root),
						     scribe_hash64(&at->mounts, sizeof(at->mounts), 0));
}

/* `when_ns` 0: the event was lost. */
static void on_exec(struct scribe_daemon *d, struct scribe_process *p, const char *argv, size_t bytes, uint64_t when_ns)
{
	static struct scribe_process_look at;
	const char *exe;

	fill_from_proc(d, p, p->index, p->tgid);
	scribe_procfs_look(p->job->config.uid, p->tgid, &at);
	/* a process that has ended: argv[0] is used instead */
	exe = at.exe[0] ? at.exe : NULL;
	look_at_root(d, p, &at);
	p->wrap_state = SCRIBE_WRAP_ABSENT;
	p->exec_ns = when_ns ? when_ns : scribe_now_ns();
	scribe_libs_exec(d, p, &at, when_ns);
	if (scribe_worlds_exec(&p->job->worlds, p, argv, bytes, exe) < 0)
		p->job->losses.memory++;
	scribe_heatmaps_anchor(d, p);
	scribe_exclusion_check_program(p);
	if (!p->env)
		p->env = malloc(sizeof(*p->env));
	if (p->env)
		scribe_envreader_begin(p->env);
	if (!p->jobenv && p->job->spec.id[0] && !p->job->has_env_settings)
		p->jobenv = calloc(1, sizeof(*p->jobenv));
	scribe_job_journal_exec(p, argv, bytes, exe);
}

static void on_map(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e, const char *text)
{
	char name[SCRIBE_LIBRARY_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)(e->text_bytes <= sizeof(name) ? e->text_bytes : 0), text);
	if (scribe_worlds_mapped(p, name))
		scribe_job_journal_bypass(p, name);
	scribe_libs_mapped(d, p, e->map.device, e->map.inode, e->when_ns, name);
}

/* The process has gained privileges: its program and arguments are hidden from its user. */
static void on_hidden(struct scribe_process *p)
{
	static const char none[] = SCRIBE_HIDDEN_EXE;

	memset(p->comm, 0, sizeof(p->comm));
	if (scribe_worlds_exec(&p->job->worlds, p, none, sizeof(none), none) < 0)
		p->job->losses.memory++;
	scribe_job_journal_exec(p, none, sizeof(none), none);
}

/* Neither the process nor its children are recorded: drops its records. */
static void disable(struct scribe_daemon *d, struct scribe_process *p)
{
	p->disabled = true;
	scribe_bpf_disable(d->bpf, p->index, p->proc_id);
}

/* Applies the job's settings in the environment, once per job. */
static void end_jobenv(struct scribe_process *p)
{
	struct scribe_job *job = p->job;

	if (p->jobenv && !job->has_env_settings && scribe_jobenv_is_set(p->jobenv)) {
		job->has_env_settings = true;
		scribe_jobenv_apply(job, p->jobenv->text, p->jobenv->bytes);
		scribe_job_journal_settings(job, p->jobenv->text, p->jobenv->bytes);
		scribe_exclusion_check_program(p);
	}
	free(p->jobenv);
	p->jobenv = NULL;
}

static void feed_environment(struct scribe_process *p, const char *text, size_t bytes)
{
	if (p->env)
		scribe_envreader_feed(p->env, text, bytes);
	if (p->jobenv)
		scribe_jobenv_feed(p->jobenv, text, bytes);
}

static void end_environment(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_rankenv env;

	end_jobenv(p);
	if (!p->env)
		return;
	scribe_envreader_end(p->env, p->seen, &env);
	free(p->env);
	p->env = NULL;
	if (env.disabled)
		disable(d, p);
	scribe_job_journal_env(p, &env);
	if (scribe_worlds_env(&p->job->worlds, p, &env) < 0)
		p->job->losses.memory++;
	scribe_heatmaps_anchor(d, p);
}

/* scribe_worlds_exit() may free the process: `p` is not valid afterwards. */
static void end_now(struct scribe_daemon *d, struct scribe_process *p)
{
	scribe_shm_counters_forget(d, p);
	scribe_libs_ended(d);
	if (scribe_map_get(&d->by_tgid, (uint64_t)p->tgid) == p)
		scribe_map_take(&d->by_tgid, (uint64_t)p->tgid);
	scribe_job_journal_end(p, p->end_kind);
	scribe_daemon_modules_process_end(p);
	scribe_worlds_exit(&p->job->worlds, p, p->end_kind, p->status, p->end_ns);
}

/* One process at a time: the journal relies on that order. */
static void take_leaving(struct scribe_job *job)
{
	struct scribe_daemon *d = job->daemon;

	while (job->leaving) {
		struct scribe_process *p = job->leaving;
		int rc = scribe_drain_exited(d, p, d->drain_until_ns);

		/* 1: time is up, to be continued with the same process */
		if (rc == 1)
			return;
		if (rc < 0)
			job->losses.memory++;
		job->leaving = p->next_end;
		p->leaving = false;
		end_now(d, p);
	}
}

/* All checks of the process are done: drains it, at once as far as time allows. */
static void begin_leaving(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_job *job = p->job;

	p->next_end = NULL;
	p->leaving = true;
	if (job->leaving)
		job->leaving_last->next_end = p;
	else
		job->leaving = p;
	job->leaving_last = p;
	take_leaving(job);
}

static void on_end(struct scribe_daemon *d, struct scribe_process *p, int32_t status, uint64_t when,
		   enum scribe_process_end kind)
{
	/* reported by event and sweep, or in progress */
	if (p->ended || p->waits_for || p->leaving)
		return;
	end_environment(d, p);
	p->status = status;
	p->end_ns = when;
	p->end_kind = kind;
	if (!scribe_exclusion_check_keep_end(p))
		begin_leaving(d, p);
}

void scribe_events_ends(struct scribe_job *job)
{
	take_leaving(job);
	for (struct scribe_process *p; (p = scribe_exclusion_check_ended(job));)
		begin_leaving(job->daemon, p);
}

static enum scribe_process_end kind_of(int32_t status)
{
	return status & 0x7f ? SCRIBE_END_SIGNALLED : SCRIBE_END_EXITED;
}

/* After exec: records of the old program's streams. */
static void end_streams(struct scribe_daemon *d, struct scribe_process *p, uint64_t when_ns)
{
	struct scribe_records *records;

	if (!scribe_map_get(&d->streams, p->proc_id))
		return;
	records = scribe_drain_records(p);
	if (!records || scribe_shm_counters_replaced(d, p, records, when_ns) < 0)
		p->job->losses.memory++;
}

/* 0, or SCRIBE_NAME_WAITS. */
static int on_join(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_event *e)
{
	uint32_t parent = scribe_parent_pid(e->tgid);
	struct scribe_process *p;
	char text[4096];
	size_t n = 0;

	/* arguments of a Hydra proxy name the world; it is not traced, so that a helper reads them */
	if (scribe_process_is_called(parent, PROXY) &&
	    !scribe_path_lookup_text(job, &(struct scribe_text_of){.pid = (pid_t)parent}, text, sizeof(text), &n))
		return SCRIBE_NAME_WAITS;
	p = appear(d, job, e->proc, e->proc_id, 0, (int32_t)e->tgid, e->when_ns);
	if (!p)
		return 0;
	if (!job->client.first_proc_id)
		job->client.first_proc_id = e->proc_id;
	if (n) {
		scribe_worlds_parent_cmdline(p, text, n);
		scribe_job_journal_parent_cmdline(p, text, n);
	}
	if (scribe_sysattach_is_late(p))
		scribe_libs_late(d, p);
	return 0;
}

/* 0, or SCRIBE_NAME_WAITS. */
static int on_again(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e)
{
	const struct scribe_text_of of = {
		.pid = p->tgid, .environment = e->type == SCRIBE_EV_ENV_AGAIN, .at = e->again.at};
	char text[SCRIBE_NAME_CAPACITY];
	size_t n;

	if (!scribe_path_lookup_text(p->job, &of, text, sizeof(text), &n))
		return SCRIBE_NAME_WAITS;
	if (!of.environment) {
		if (n)
			on_exec(d, p, text, n, 0);
		return 0;
	}
	if (n)
		feed_environment(p, text, n);
	if (n < sizeof(text) || e->again.at > ENV_MAX ||
	    scribe_held_put(p->job,
			    &(struct scribe_event){.type = SCRIBE_EV_ENV_AGAIN,
						   .proc_id = e->proc_id,
						   .again.at = e->again.at + (uint32_t)n},
			    ""))
		end_environment(d, p);
	return 0;
}

/* SCRIBE_NAME_WAITS: deliver the same event again later; the path lookup keeps its state. */
static int on_job_event(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_event *e, const char *text)
{
	struct scribe_process *p;

	if (e->type == SCRIBE_EV_FORK) {
		appear(d, job, e->proc, e->proc_id, e->fork.parent, (int32_t)e->tgid, e->when_ns);
		return 0;
	}
	if (e->type == SCRIBE_EV_JOIN)
		return on_join(d, job, e);
	p = process_of(d, job, e);
	if (!p || p->ended)
		return 0;
	switch (e->type) {
	case SCRIBE_EV_NAME:
		return scribe_name_event(d, p, e, text);
	case SCRIBE_EV_LINK:
		scribe_link_event(d, p, e, text);
		break;
	case SCRIBE_EV_MAP:
		on_map(d, p, e, text);
		break;
	case SCRIBE_EV_STREAM:
		scribe_shm_counters_announced(d, p, &e->stream);
		break;
	case SCRIBE_EV_EXEC:
		/* the last part of the old environment may have been lost */
		end_environment(d, p);
		end_streams(d, p, e->when_ns);
		if (e->exec.flags & SCRIBE_XF_HIDDEN)
			on_hidden(p);
		else
			on_exec(d, p, text, e->text_bytes, e->when_ns);
		break;
	case SCRIBE_EV_ENV:
		feed_environment(p, text, e->text_bytes);
		if (e->env.last)
			end_environment(d, p);
		else
			scribe_job_journal_env(p, NULL);
		break;
	case SCRIBE_EV_EXIT:
		on_end(d, p, e->exit.status, e->when_ns, kind_of(e->exit.status));
		break;
	case SCRIBE_EV_EXEC_AGAIN:
	case SCRIBE_EV_ENV_AGAIN:
		return on_again(d, p, e);
	default:
		break;
	}
	return 0;
}

/* False: time is up, or the first event waits again. */
static bool take_held(struct scribe_daemon *d, struct scribe_job *job)
{
	while (job->held.first && !scribe_path_lookup_waits(job)) {
		const struct scribe_held_event *h = job->held.first;

		if (on_job_event(d, job, &h->event, h->text) == SCRIBE_NAME_WAITS)
			return false;
		scribe_path_lookup_forget(job);
		/* after the event: a daemon that dies in between processes it again */
		scribe_job_journal_position(job, h->end);
		scribe_held_drop(job);
		if (d->events_until_ns && scribe_now_ns() >= d->events_until_ns)
			return false;
	}
	return !job->held.first;
}

void scribe_events_release(struct scribe_job *job)
{
	uint64_t until_ns = job->daemon->events_until_ns;

	job->daemon->events_until_ns = 0;
	scribe_path_lookup_quiet(job, true);
	take_held(job->daemon, job);
	scribe_path_lookup_quiet(job, false);
	job->daemon->events_until_ns = until_ns;
}

/* Keeps the order within the job. */
static void take_one(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_event *e, const char *text)
{
	if (job->held.first && scribe_held_put(job, e, text) == 0)
		return;
	/* the queue is full: processes held events first, or the order would change */
	if (job->held.first)
		scribe_events_release(job);
	if (on_job_event(d, job, e, text) == SCRIBE_NAME_WAITS) {
		if (scribe_held_put(job, e, text) == 0)
			return;
		scribe_path_lookup_quiet(job, true);
		on_job_event(d, job, e, text);
		scribe_path_lookup_quiet(job, false);
	}
	scribe_job_journal_position(job, scribe_bpf_position(d->bpf));
}

static int on_event(void *ctx, const struct scribe_event *e, const char *text)
{
	struct scribe_daemon *d = ctx;
	struct scribe_job *job;

	if (e->type == SCRIBE_EV_SEGMENTS)
		return 0; /* segments are taken in every iteration */
	job = work_of(d, e);
	if (!job)
		return 0;
	take_one(d, job, e, text);
	return d->events_until_ns && scribe_now_ns() >= d->events_until_ns;
}

int scribe_events_take(struct scribe_daemon *d, uint64_t most_ns, bool *ret_cut)
{
	int taken = 0;

	/* first: a process that has just joined is not recorded before */
	if (d->bpf && !d->calls_since_ns)
		scribe_sysattach_tick(d);
	d->events_until_ns = most_ns ? scribe_now_ns() + most_ns : 0;
	/* held events are older than those in the ring */
	for (struct scribe_job *job = d->bpf ? d->jobs : NULL; job; job = job->next)
		if (job->held.first)
			take_held(d, job);
	if (d->bpf)
		taken = scribe_bpf_poll(d->bpf, 0, on_event, d);
	scribe_names_done(d);
	if (ret_cut)
		*ret_cut = d->events_until_ns && scribe_now_ns() >= d->events_until_ns;
	return taken;
}

/* Reads EXEC and ENV from /proc: the events may have been lost. */
static void want_again(struct scribe_job *job, const struct scribe_process *p)
{
	(void)scribe_held_put(job, &(struct scribe_event){.type = SCRIBE_EV_EXEC_AGAIN, .proc_id = p->proc_id}, "");
	(void)scribe_held_put(job, &(struct scribe_event){.type = SCRIBE_EV_ENV_AGAIN, .proc_id = p->proc_id}, "");
}

static void sweep_unit(struct scribe_daemon *d, struct scribe_log_unit *u, bool lost)
{
	struct scribe_process *p, *next;

	for (p = u->first; p; p = next) {
		struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);

		next = p->next;
		if (p->ended || !proc)
			continue;
		if (proc->proc_id != p->proc_id)
			on_end(d, p, 0, scribe_now_ns(), SCRIBE_END_LOST);
		else if (proc->flags & SCRIBE_PF_EXITED && !p->exit_seen)
			p->exit_seen = true; /* wait for the next sweep: names and exit may still be in the ring */
		else if (proc->flags & SCRIBE_PF_EXITED)
			on_end(d, p, proc->exit_code, proc->exit_ns, kind_of(proc->exit_code));
		else if (lost && !(proc->flags & SCRIBE_PF_HIDDEN))
			want_again(p->job, p);
	}
}

static bool lost_more(struct scribe_daemon *d, struct scribe_job *job)
{
	struct scribe_ledger ledger;
	uint64_t lost = job->losses.events_seen, before = lost;

	if (scribe_bpf_ledger(d->bpf, job->index, &ledger) == 0)
		lost = ledger.v[SCRIBE_L_EVENT_LOST] + ledger.v[SCRIBE_L_ENV_LOST];
	job->losses.events_seen = lost;
	return lost > before;
}

/* After losses of first events. One scan of the table for all jobs: it has a place per process of the node. */
static void find_processes(struct scribe_daemon *d, const bool *of)
{
	for (uint32_t i = 0; i <= d->processes; i++) {
		struct scribe_proc *proc = scribe_bpf_proc(d->bpf, i);
		struct scribe_job *job;

		if (!proc)
			break;
		job = proc->proc_id && proc->job < SCRIBE_JOBS_MAX && of[proc->job] ? d->job[proc->job] : NULL;
		if (job && !scribe_worlds_find(&job->worlds, proc->proc_id))
			appear(d, job, i, proc->proc_id, proc->parent_serial, (int32_t)proc->tgid, proc->start_ns);
	}
}

void scribe_events_sweep(struct scribe_daemon *d)
{
	bool due[SCRIBE_JOBS_MAX] = {false}, lost[SCRIBE_JOBS_MAX] = {false}, any = false;

	for (struct scribe_job *job = d->bpf ? d->jobs : NULL; job; job = job->next) {
		due[job->index] = !job->held.first; /* otherwise events may just be waiting */
		lost[job->index] = due[job->index] && lost_more(d, job);
		any = any || lost[job->index];
	}
	if (any)
		find_processes(d, lost);
	for (struct scribe_job *job = d->bpf ? d->jobs : NULL; job; job = job->next)
		for (struct scribe_log_unit *u = due[job->index] ? job->worlds.units : NULL; u; u = u->next)
			if (!u->committed || job->state == SCRIBE_JOB_OVER)
				sweep_unit(d, u, lost[job->index]);
}
