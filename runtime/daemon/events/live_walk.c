// SPDX-License-Identifier: BSD-3-Clause
/*
 * A job's processes and records now. Slots are copied without locks. Must not know the client, change
 * records or wait.
 */
#include "runtime/daemon/events/live_walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/folder_load.h"
#include "runtime/daemon/tables/slot_names.h"

#define LOOK_EVERY 64 /* empty entries between reads of the clock */
#define COPY_TRIES 4u /* per slot */

struct walk {
	struct scribe_daemon *d;
	struct scribe_job *job;
	struct scribe_live_cursor *cursor;
	scribe_live_fn fn;
	void *ctx;
	uint64_t until_ns;
};

/* NULL: not of this job. */
static struct scribe_process *process_at(const struct walk *x, const struct scribe_proc *proc)
{
	struct scribe_process *p =
		proc->proc_id && proc->job == x->job->index ? scribe_worlds_find(&x->job->worlds, proc->proc_id) : NULL;

	return p && !p->ended && p->index == x->cursor->proc ? p : NULL;
}

static bool report_process(const struct walk *x, const struct scribe_process *p, const struct scribe_proc *proc)
{
	struct scribe_live_process item = {.proc_id = p->proc_id,
					   .pid = p->tgid,
					   .uid = p->uid,
					   .unit = p->unit ? p->unit->id : 0,
					   .rank = p->rank && p->unit && p->unit->id ? p->rank->rank : -1,
					   .collected = {.operations = p->totals.operations,
							 .bytes = {p->totals.bytes_read, p->totals.bytes_written},
							 .opens = p->totals.opens,
							 .stats = p->totals.stats}};
	const char *slash = p->exe ? strrchr(p->exe, '/') : NULL;

	snprintf(item.program, sizeof(item.program), "%s",
		 /* its user must not see what a privileged program is */
		 proc->flags & SCRIBE_PF_HIDDEN ? "<privileged>"
		 : !p->exe || p->exe[0] == '\0' ? p->comm
		 : slash && slash[1]            ? slash + 1
						: p->exe);
	return x->fn(x->ctx, SCRIBE_LIVE_PROCESS, &item, sizeof(item));
}

/* Do its bytes count for the process, as in drain.c? */
static bool is_own(int module)
{
	return module == SCRIBE_MOD_POSIX || module == SCRIBE_MOD_STDIO;
}

static bool report_slot(const struct walk *x, struct scribe_process *p, uint32_t index,
			const struct scribe_slot_copy *l)
{
	const struct scribe_name_entry *name = scribe_slot_name_entry(x->d, index, l->generation);
	const int module = scribe_drain_module(l->kind);
	struct scribe_live_record item = {.proc_id = p->proc_id,
					  .module = (uint32_t)module,
					  .slot = index,
					  .generation = l->generation,
					  .name = name ? name->id : 0,
					  .operations = l->events,
					  .opens = l->opens,
					  .stats = l->stats,
					  .own = is_own(module),
					  .folded = l->kind == SCRIBE_KIND_CATCHALL};

	if ((name && name->excluded) || scribe_drain_is_excluded(p, l->kind))
		return true;
	if (item.own)
		scribe_folder_load_count(p, index, l->generation, l->opens + l->stats);
	memcpy(item.ops, l->ops, sizeof(item.ops));
	memcpy(item.bytes, l->bytes, sizeof(item.bytes));
	memcpy(item.busy_ns, l->busy_ns, sizeof(item.busy_ns));
	memcpy(item.longest_ns, l->max_ns, sizeof(item.longest_ns));
	return x->fn(x->ctx, SCRIBE_LIVE_RECORD, &item, sizeof(item));
}

/* True: complete, or the process's records are gone. */
static bool report_slots(const struct walk *x, struct scribe_process *p)
{
	struct scribe_live_cursor *at = x->cursor;

	while (at->slot) {
		struct scribe_slot_copy l;
		uint32_t next = at->slot;
		int rc = scribe_bpf_peek(x->d->bpf, p->index, &next, &l);

		/* it changes too fast: later */
		if (rc == -EAGAIN || (rc == 1 && !report_slot(x, p, at->slot, &l)))
			return false;
		at->slot = rc < 0 ? 0 : next;
		if (scribe_now_ns() >= x->until_ns)
			return false;
	}
	return true;
}

static bool report_shm(const struct walk *x, struct scribe_process *p)
{
	struct scribe_live_cursor *at = x->cursor;
	struct scribe_live_record item;
	uint32_t next = at->shm;

	while (scribe_shm_counters_peek(x->d, p, &next, COPY_TRIES, &item)) {
		if (item.operations && !x->fn(x->ctx, SCRIBE_LIVE_RECORD, &item, sizeof(item)))
			return false;
		at->shm = next;
		if (scribe_now_ns() >= x->until_ns)
			return false;
	}
	return true;
}

static bool report(const struct walk *x, struct scribe_process *p, const struct scribe_proc *proc)
{
	struct scribe_live_cursor *at = x->cursor;

	if (at->proc_id != p->proc_id) {
		if (!report_process(x, p, proc))
			return false;
		at->proc_id = p->proc_id;
		at->slot = __atomic_load_n(&proc->head, __ATOMIC_ACQUIRE);
		at->shm = 0;
	}
	return report_slots(x, p) && report_shm(x, p);
}

bool scribe_live_walk(struct scribe_daemon *d, struct scribe_job *job, struct scribe_live_cursor *cursor,
		      uint64_t until_ns, scribe_live_fn fn, void *ctx)
{
	const struct walk x = {d, job, cursor, fn, ctx, until_ns};
	const struct scribe_proc *proc;

	if (d->bpf && !cursor->proc && !cursor->proc_id)
		scribe_folder_load_look(job, scribe_now_ns());
	for (unsigned n = 1; d->bpf && (proc = scribe_bpf_proc(d->bpf, cursor->proc)); n++) {
		struct scribe_process *p = process_at(&x, proc);

		if (p && !report(&x, p, proc))
			return false;
		*cursor = (struct scribe_live_cursor){.proc = cursor->proc + 1};
		if ((p || n % LOOK_EVERY == 0) && scribe_now_ns() >= until_ns)
			return false;
	}
	scribe_folder_load_looked(job, scribe_now_ns());
	return true;
}
