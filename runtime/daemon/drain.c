/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drain: slots of a process become files of its rank. The kernel side gives
 * consistent views; this only names and adds them.
 */
#include <stdio.h>
#include <string.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/streams.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/shapes.h"

struct drain {
	struct scribe_daemon *d;
	struct scribe_process *p;
	struct scribe_records *records;
	bool kept, lives; /* it comes from the journal; of a living process */
	uint64_t noted;   /* records put into the journal */
};

/* A record whose name never came, or that stands for many files. */
static struct scribe_label *made_up_label(struct scribe_work *w, const struct scribe_process *p,
					  const struct scribe_slot *slot)
{
	char text[96];

	if (slot->kind == SCRIBE_KIND_CATCHALL)
		snprintf(text, sizeof(text), "<folded:%d>", p->tgid);
	else
		snprintf(text, sizeof(text), "<unnamed:%u:%u:%llu>", slot->dev >> 20, slot->dev & 0xfffff,
			 (unsigned long long)slot->ino);
	return scribe_labels_intern(&w->labels, text, strlen(text));
}

/* The log's module of a slot that is a library's; 0: it is POSIX's. */
static int lib_module(uint32_t kind)
{
	static const int modules[] = {
		[SCRIBE_KIND_STDIO] = SCRIBE_MOD_STDIO,
		[SCRIBE_KIND_MPIIO] = SCRIBE_MOD_MPIIO,
		[SCRIBE_KIND_H5F] = SCRIBE_MOD_H5F,
		[SCRIBE_KIND_H5D] = SCRIBE_MOD_H5D,
		[SCRIBE_KIND_NC_FILE] = SCRIBE_MOD_PNETCDF_FILE,
		[SCRIBE_KIND_NC_VAR] = SCRIBE_MOD_PNETCDF_VAR,
	};

	return kind < sizeof(modules) / sizeof(modules[0]) ? modules[kind] : 0;
}

/* Keep what belongs to the keys of a part before the table of them is gone. */
static void learn_shapes(struct scribe_work *w, const struct scribe_value *v, size_t n)
{
	struct scribe_shape shape;

	for (size_t i = 0; i < n; i++)
		if (v[i].value && !scribe_shapes_find(&w->shapes, v[i].value, &shape) &&
		    scribe_libs_shape(w->daemon, v[i].value, &shape) &&
		    scribe_shapes_keep(&w->shapes, v[i].value, &shape) < 0)
			w->memory_out++;
}

/*
 * The first part of a stream whose calls were counted until that was stopped: what was
 * counted by calls and what by system calls is together what all its system calls moved.
 */
static const struct scribe_posix_part *settle(const struct scribe_slot_view *v)
{
	static struct scribe_posix_part part;

	part = *v->part[0];
	for (int i = 0; i < 2; i++)
		part.bytes[i] -= (uint64_t)v->slot->ahead[i];
	return &part;
}

/*
 * A library's record. Totals of the process are of what the kernel moved: a
 * stream's are, where its system calls were counted or nothing else was.
 */
static int drain_lib(struct drain *x, const struct scribe_slot_view *v, const struct scribe_label *label)
{
	int module = lib_module(v->slot->kind);
	bool stream = module == SCRIBE_MOD_STDIO;
	struct scribe_file *f = scribe_records_at_module(x->records, module, label->id);
	/* system calls beneath a stream that have no counter of STDIO: the file's own */
	bool shapes = module == SCRIBE_MOD_H5D || module == SCRIBE_MOD_PNETCDF_VAR;
	const struct scribe_posix_part *first = NULL;
	struct scribe_file *ext = stream ? scribe_records_at(x->records, label->id) : f;

	if (stream && v->slot->flags & SCRIBE_SF_STOPPED) {
		first = settle(v);
		x->p->work->streams_stopped++;
	}
	for (unsigned i = 0; i < v->nparts; i++) {
		const struct scribe_posix_part *part = i || !first ? v->part[i] : first;

		if (!f || !ext || scribe_posix_acc_add(&f->acc, part, v->access[i], v->stride[i]) < 0 ||
		    scribe_posix_acc_add_ext(&ext->acc, v->ext[i]) < 0)
			return -1;
		x->p->totals.operations += v->part[i]->events;
		if (shapes) {
			learn_shapes(x->p->work, v->part[i]->access, SCRIBE_TOP_VALUES);
			if (v->access[i])
				learn_shapes(x->p->work, v->access[i]->v, SCRIBE_TABLE_VALUES);
		}
		if (!stream)
			continue;
		x->p->totals.bytes_read += part->bytes[0];
		x->p->totals.bytes_written += part->bytes[1];
	}
	if (f && shapes) {
		scribe_file_properties(f, v->ext[0]);
		f->file_id = label->file_id;
	}
	if (f && v->slot->mode && !f->mode)
		f->mode = v->slot->mode;
	x->p->totals.records++;
	return 0;
}

static int add_parts(struct scribe_file *f, struct scribe_totals *t, const struct scribe_slot_view *v)
{
	for (unsigned i = 0; i < v->nparts; i++) {
		if (scribe_posix_acc_add(&f->acc, v->part[i], v->access[i], v->stride[i]) < 0 ||
		    scribe_posix_acc_add_ext(&f->acc, v->ext[i]) < 0)
			return -1;
		t->bytes_read += v->part[i]->bytes[0];
		t->bytes_written += v->part[i]->bytes[1];
		t->operations += v->part[i]->events;
	}
	return 0;
}

int scribe_drain_module(uint32_t kind)
{
	int module = lib_module(kind);

	return module ? module : SCRIBE_MOD_POSIX;
}

bool scribe_drain_left_out(const struct scribe_process *p, uint32_t kind)
{
	const struct scribe_rules *r = &p->work->config.rules;

	if (p->disabled || p->left_out || r->modules_off & 1ull << scribe_drain_module(kind))
		return true;
	return r->n && p->rank && p->unit->id && scribe_rules_rank_out(r, p->rank->rank);
}

static bool says_nothing(const struct scribe_slot_view *v)
{
	for (unsigned i = 0; i < v->nparts; i++) {
		const struct scribe_posix_part *p = v->part[i];

		if (p->opens | p->dups | p->ops[0] | p->ops[1] | p->seeks | p->stats | p->mmaps | p->fsyncs |
		    p->fdsyncs | p->rename_sources | p->rename_targets)
			return false;
		for (int k = 0; k < SCRIBE_EXT_COUNT; k++)
			if (v->ext[i]->v[k])
				return false;
	}
	return true;
}

static int drain_slot(void *ctx, const struct scribe_slot_view *v)
{
	struct drain *x = ctx;
	const struct scribe_slot *slot = v->slot;
	struct scribe_label *label = scribe_slot_label(x->d, v->index, slot->birth);
	struct scribe_file *f;

	if (slot->flags & SCRIBE_SF_EXCLUDED || (label && label->excluded)) {
		for (unsigned i = 0; i < v->nparts; i++)
			x->p->work->excluded_late += v->part[i]->events;
		return 0;
	}
	if (scribe_drain_left_out(x->p, slot->kind) || says_nothing(v))
		return 0;
	if (!x->kept) {
		scribe_keep_record(x->p, v, x->lives);
		x->noted++;
	}
	/* a library's record that replaced one already drained has that one's name */
	if (!label && lib_module(slot->kind) && slot->renamed_from)
		label = scribe_slot_label(x->d, slot->renamed_from, slot->renamed_from_birth);
	if (!label && slot->kind != SCRIBE_KIND_CATCHALL)
		x->p->work->names_lost++;
	if (!label || slot->kind == SCRIBE_KIND_CATCHALL)
		label = made_up_label(x->p->work, x->p, slot);
	if (lib_module(slot->kind)) {
		if (!label || drain_lib(x, v, label) < 0)
			x->p->work->memory_out++;
		return 0;
	}
	f = label ? scribe_records_at(x->records, label->id) : NULL;
	if (!f || add_parts(f, &x->p->totals, v) < 0) {
		x->p->work->memory_out++;
		return 0;
	}
	x->p->totals.records++;
	if (slot->mode)
		f->mode = slot->mode;
	if (slot->align)
		f->align = slot->align;
	if (slot->renamed_from && !f->renamed_from) {
		label = scribe_slot_label(x->d, slot->renamed_from, slot->renamed_from_birth);
		f->renamed_from = label ? label->id : 0;
	}
	return 0;
}

struct scribe_records *scribe_drain_records(struct scribe_process *p)
{
	if (p->rank && !p->rank->records)
		p->rank->records = scribe_records_new();
	return p->rank ? p->rank->records : NULL;
}

int scribe_drain_kept(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_slot_view *view)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p), .kept = true};

	return x.records ? drain_slot(&x, view) : -1;
}

int scribe_drain_exited(struct scribe_daemon *d, struct scribe_process *p)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p)};
	struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);
	uint64_t begin = scribe_now_ns();
	int rc;

	if (!x.records)
		return -1;
	if (!proc || proc->serial != p->serial)
		return 0;
	if (p->drained)
		return scribe_bpf_harvest(d->bpf, p->index, NULL, NULL);
	p->totals.folded_files = proc->folded;
	/* noted as a whole before anything is given back */
	rc = scribe_bpf_walk(d->bpf, p->index, drain_slot, &x);
	p->drained = rc == 0;
	scribe_keep_drained(p, x.noted);
	if (rc == 0)
		rc = scribe_bpf_harvest(d->bpf, p->index, NULL, NULL);
	if (scribe_streams_take(d, p, x.records) < 0)
		rc = -1;
	p->work->drain_ns += scribe_now_ns() - begin;
	return rc;
}

int scribe_drain_living(struct scribe_daemon *d, struct scribe_process *p)
{
	struct drain x = {.d = d, .p = p, .records = scribe_drain_records(p), .lives = true};
	struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);
	uint64_t begin = scribe_now_ns();
	int rc;

	if (!x.records)
		return -1;
	if (!proc || proc->serial != p->serial)
		return 0;
	p->totals.folded_files = proc->folded;
	rc = scribe_bpf_retire(d->bpf, p->index, drain_slot, &x);
	if (scribe_streams_take(d, p, x.records) < 0)
		rc = -1;
	p->work->drain_ns += scribe_now_ns() - begin;
	return rc;
}
