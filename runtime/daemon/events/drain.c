/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes a process's slots from memory shared with the kernel, and adds them to the rank's records by name.
 * Bounded per loop iteration; the state is in struct scribe_draining of the process.
 */
#include "runtime/daemon/events/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/model/access_patterns.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/receivers.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/folder_load.h"
#include "runtime/daemon/tables/heatmaps.h"
#include "runtime/daemon/tables/slot_names.h"

struct drain {
	struct scribe_daemon *d;
	struct scribe_process *p;
	struct scribe_records *records;
	bool kept, lives; /* from the journal; of a living process */
	uint64_t noted;   /* records written to the journal */
};

/* Records have keys only: patterns are kept until the log is written. */
static void keep_patterns(struct scribe_job *job, const struct scribe_value *v, size_t n)
{
	struct scribe_access_pattern pattern;

	for (size_t i = 0; i < n; i++)
		if (v[i].value && !scribe_access_patterns_find(&job->patterns, v[i].value, &pattern) &&
		    scribe_libs_shape(job->daemon, v[i].value, &pattern) &&
		    scribe_access_patterns_keep(&job->patterns, v[i].value, &pattern) < 0)
			job->losses.memory++;
}

static int drain_lib(struct drain *x, const struct scribe_slot_view *v, const struct scribe_name_entry *name)
{
	int module = scribe_library_module(v->slot->kind);
	bool stream = module == SCRIBE_MOD_STDIO;
	struct scribe_file_record *f = scribe_records_at_module(x->records, module, name->id);
	bool has_patterns = module == SCRIBE_MOD_H5D || module == SCRIBE_MOD_PNETCDF_VAR;
	/* system calls of streams do not have STDIO counters: the file's POSIX_EXT gets them */
	struct scribe_file_record *ext = stream ? scribe_records_at(x->records, name->id) : f;
	uint64_t calls = 0;

	for (unsigned i = 0; i < v->nshards; i++) {
		const struct scribe_posix_shard *shard = v->shard[i];

		if (!f || !ext || scribe_posix_acc_add(&f->acc, shard, v->access[i], v->stride[i]) < 0 ||
		    scribe_posix_acc_add_ext(&ext->acc, v->ext[i]) < 0)
			return -1;
		scribe_posix_acc_add_cache(&ext->acc, v->part[i]->cache_often, v->part[i]->cache_seldom);
		x->p->totals.operations += v->shard[i]->events;
		scribe_heatmaps_add(x->p, module, v->heat[i], v->heat_table[i], shard);
		if (has_patterns) {
			keep_patterns(x->p->job, v->shard[i]->access, SCRIBE_TOP_VALUES);
			if (v->access[i])
				keep_patterns(x->p->job, v->access[i]->v, SCRIBE_TABLE_VALUES);
		}
		/* other libraries' bytes are those of system calls below */
		if (!stream)
			continue;
		x->p->totals.bytes_read += shard->bytes[0];
		x->p->totals.bytes_written += shard->bytes[1];
		x->p->totals.opens += shard->opens;
		x->p->totals.stats += shard->stats;
		calls += shard->opens + shard->stats;
	}
	if (stream)
		scribe_folder_load_count(x->p, v->index, v->slot->generation, calls);
	if (f && has_patterns) {
		scribe_file_properties(f, v->ext[0]);
		f->file_id = name->file_id;
	}
	if (f && v->slot->mode && !f->mode)
		f->mode = v->slot->mode;
	x->p->totals.records++;
	return 0;
}

static int add_shards(struct scribe_file_record *f, struct scribe_process *p, const struct scribe_slot_view *v)
{
	struct scribe_process_totals *t = &p->totals;
	uint64_t calls = 0;

	for (unsigned i = 0; i < v->nshards; i++) {
		if (scribe_posix_acc_add(&f->acc, v->shard[i], v->access[i], v->stride[i]) < 0 ||
		    scribe_posix_acc_add_ext(&f->acc, v->ext[i]) < 0)
			return -1;
		scribe_posix_acc_add_cache(&f->acc, v->part[i]->cache_often, v->part[i]->cache_seldom);
		f->acc.faults_lost |= (v->slot->flags & SCRIBE_SF_FAULTS_LOST) != 0;
		scribe_heatmaps_add(p, SCRIBE_MOD_POSIX, v->heat[i], v->heat_table[i], v->shard[i]);
		t->bytes_read += v->shard[i]->bytes[0];
		t->bytes_written += v->shard[i]->bytes[1];
		t->operations += v->shard[i]->events;
		t->opens += v->shard[i]->opens;
		t->stats += v->shard[i]->stats;
		calls += v->shard[i]->opens + v->shard[i]->stats;
	}
	scribe_folder_load_count(p, v->index, v->slot->generation, calls);
	return 0;
}

/* The slot was never counted on, or its counts are excluded. */
static bool says_nothing(const struct scribe_slot_view *v)
{
	for (unsigned i = 0; i < v->nshards; i++) {
		const struct scribe_posix_shard *p = v->shard[i];

		if (p->opens | p->dups | p->ops[0] | p->ops[1] | p->seeks | p->stats | p->mmaps | p->fsyncs |
		    p->fdsyncs | p->rename_sources | p->rename_targets)
			return false;
		for (int k = 0; k < SCRIBE_EXT_COUNT; k++)
			if (v->ext[i]->v[k])
				return false;
	}
	return true;
}

/* With the quota used up by records a new one's name becomes that of the overflow record. */
static struct scribe_name_entry *or_folded(struct drain *x, const struct scribe_slot_view *v,
					   struct scribe_name_entry *name)
{
	struct scribe_job *job = x->p->job;
	const int library = scribe_library_module(v->slot->kind);

	if (job->records_full && !name->folded && v->slot->kind != SCRIBE_KIND_CATCHALL &&
	    !scribe_records_find(x->records, library ? library : SCRIBE_MOD_POSIX, name->id)) {
		name = scribe_slot_overflow_name(job, x->p);
		if (!name)
			return NULL;
		job->losses.files_overflowed++;
	}
	/* counted by the kernel as recorded */
	for (unsigned i = 0; name->folded && v->slot->kind != SCRIBE_KIND_CATCHALL && i < v->nshards; i++)
		job->losses.overflowed_late += v->shard[i]->events;
	return name;
}

/* Returns 0 also without memory: other slots can still be taken. */
static int drain_slot(void *ctx, const struct scribe_slot_view *v)
{
	struct drain *x = ctx;
	const struct scribe_slot *slot = v->slot;
	struct scribe_name_entry *name = scribe_slot_name_entry(x->d, v->index, slot->generation);
	struct scribe_file_record *f;

	/* The process that builds the log has no maps. */
	x->p->job->cache_known = scribe_bpf_cache(x->d->bpf);
	if (slot->flags & SCRIBE_SF_EXCLUDED || (name && name->excluded)) {
		for (unsigned i = 0; i < v->nshards; i++)
			x->p->job->losses.excluded_late += v->shard[i]->events;
		scribe_receivers_bind(x->p, v, 0);
		return 0;
	}
	if (scribe_drain_is_excluded(x->p, slot->kind) || says_nothing(v)) {
		scribe_receivers_bind(x->p, v, 0);
		return 0;
	}
	/* in the journal before it is added or freed, so that a restart neither loses it nor counts it twice */
	if (!x->kept) {
		scribe_job_journal_record(x->p, v, x->lives);
		x->noted++;
	}
	/* the name is that of the drained record which this one replaced */
	if (!name && scribe_library_module(slot->kind) && slot->renamed_from)
		name = scribe_slot_name_entry(x->d, slot->renamed_from, slot->renamed_from_generation);
	if (!name && slot->kind != SCRIBE_KIND_CATCHALL)
		x->p->job->losses.names++;
	if (!name || slot->kind == SCRIBE_KIND_CATCHALL)
		name = scribe_slot_synthetic_name(x->p->job, x->p, slot);
	if (name)
		name = or_folded(x, v, name);
	if (scribe_library_module(slot->kind)) {
		if (!name || drain_lib(x, v, name) < 0)
			x->p->job->losses.memory++;
		scribe_receivers_bind(x->p, v, name ? name->id : 0);
		return 0;
	}
	f = name ? scribe_records_at(x->records, name->id) : NULL;
	if (!f || add_shards(f, x->p, v) < 0) {
		x->p->job->losses.memory++;
		return 0;
	}
	scribe_receivers_bind(x->p, v, name->id);
	x->p->totals.records++;
	if (slot->mode)
		f->mode = slot->mode;
	if (slot->align)
		f->align = slot->align;
	if (slot->renamed_from && !f->renamed_from) {
		name = scribe_slot_name_entry(x->d, slot->renamed_from, slot->renamed_from_generation);
		f->renamed_from = name ? name->id : 0;
	}
	return 0;
}

int scribe_drain_kept(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_slot_view *view)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p), .kept = true};

	return x.records ? drain_slot(&x, view) : -1;
}

struct scribe_draining {
	struct scribe_bpf_walk walk;
	uint64_t noted;
};

static int drain_some(struct drain *x, struct scribe_draining *at, uint64_t until_ns)
{
	struct scribe_bpf *bpf = x->d->bpf;
	struct scribe_process *p = x->p;
	int rc = 0;

	if (!p->drained) {
		x->noted = at->noted;
		rc = scribe_bpf_walk(bpf, p->index, &at->walk, until_ns, drain_slot, x);
		at->noted = x->noted;
		if (rc == 1)
			return 1;
		p->drained = rc == 0;
		/* noted as complete before anything is freed */
		scribe_job_journal_drained(p, at->noted);
	}
	return rc ? rc : scribe_bpf_give(bpf, p->index, &at->walk, until_ns);
}

static int drain_in_iterations(struct drain *x, uint64_t until_ns)
{
	struct scribe_process *p = x->p;
	int rc;

	if (!p->draining)
		p->draining = calloc(1, sizeof(*p->draining));
	if (!p->draining)
		return -1;
	rc = drain_some(x, p->draining, until_ns);
	if (rc != 1) {
		free(p->draining);
		p->draining = NULL;
	}
	return rc;
}

static void take_counts(struct scribe_process *p, const struct scribe_proc *proc)
{
	p->totals.overflowed_files = proc->overflowed;
	p->totals.cpu_ns = proc->cpu_ns;
	p->totals.cost_ns = proc->cost_ns;
	p->totals.cost_calls = proc->cost_calls;
	if (proc->flags & SCRIBE_PF_PASSED && scribe_worlds_mapped(p, SCRIBE_PASSTHROUGH))
		scribe_job_journal_bypass(p, SCRIBE_PASSTHROUGH);
}

int scribe_drain_exited(struct scribe_daemon *d, struct scribe_process *p, uint64_t until_ns)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p)};
	struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, p->index, p->proc_id);
	uint64_t begin = scribe_now_ns();
	int rc;

	if (!x.records)
		return -1;
	/* the entry was reused: the records are taken already */
	if (!proc)
		return 0;
	take_counts(p, proc);
	/* drained by an earlier daemon according to its journal, but not freed */
	if (p->drained && !p->draining)
		rc = scribe_bpf_drain_and_free(d->bpf, p->index, NULL, NULL);
	else
		rc = drain_in_iterations(&x, until_ns);
	if (rc != 1 && scribe_shm_counters_take(d, p, x.records) < 0)
		rc = -1;
	p->job->drain_ns += scribe_now_ns() - begin;
	return rc;
}

int scribe_drain_living(struct scribe_daemon *d, struct scribe_process *p)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p), .lives = true};
	struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, p->index, p->proc_id);
	uint64_t begin = scribe_now_ns();
	int rc = 0;

	if (!x.records)
		return -1;
	if (!proc)
		return 0;
	if (!p->drained) {
		take_counts(p, proc);
		rc = scribe_bpf_drain_live(d->bpf, p->index, drain_slot, &x);
	}
	if (scribe_shm_counters_take(d, p, x.records) < 0)
		rc = -1;
	p->job->drain_ns += scribe_now_ns() - begin;
	return rc;
}
