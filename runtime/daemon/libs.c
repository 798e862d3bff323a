// SPDX-License-Identifier: BSD-3-Clause
/*
 * Library modules: what may have been missed, what it costs, what is left in the kernel's
 * tables. Must not know of records or logs.
 */
#include "runtime/daemon/libs_private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/keep.h"
#include "uprobes/tables.h"
#include "uprobes/wire.h"

#define CALL_COST_NS 1500 /* of a counted stream call, entry and return, here */
#define GUARD_NS     200000000ull
#define SWEEP_NS     2000000000ull /* between looks at the tables, */
#define SWEEP_ENDED  32            /* or so many ended processes */

/* ---- libraries that were in use before they were probed ---- */

/* A piece of code of a process. */
struct mapping {
	uint64_t start, offset, ino;
};

/* The next executable mapping of a file; false: no more. */
static bool next_code(FILE *maps, struct mapping *m)
{
	char line[PATH_MAX + 128];

	while (fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset, ino;
		char perms[8];
		int at = 0;

		if (sscanf(line, "%llx-%*x %7s %llx %*s %llu %n", &start, perms, &offset, &ino, &at) < 4 ||
		    !at || !ino || perms[2] != 'x' || line[at] != '/')
			continue;
		m->start = start;
		m->offset = offset;
		m->ino = ino;
		return true;
	}
	return false;
}

static FILE *maps_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

/* Has the library been started in this process? Unknown is yes. */
static bool has_begun(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_begun *b,
		      uint64_t base)
{
	uint32_t value = 0;

	if (!b->vaddr || b->bytes > sizeof(value))
		return true;
	return !scribe_libs_peek(d, p->uid, p->tgid, base + b->vaddr, b->bytes, &value) || value >= b->least;
}

static uint64_t base_of(const struct scribe_uprobed *f, const struct mapping *m)
{
	return m->start - (m->offset + f->bias);
}

/* The library by which programs count inside themselves? It does not tell whether it has been used. */
static bool is_inside(const struct scribe_libs *l, uint64_t ino)
{
	struct stat st;

	return l->inside[0] && stat(l->inside, &st) == 0 && st.st_ino == ino;
}

/* MPI, without which nobody calls PnetCDF or our own library's MPI-IO; `unknown`: where none is known of. */
static bool mpi_has_begun(struct scribe_daemon *d, const struct scribe_process *p, bool unknown)
{
	struct scribe_libs *l = d->libs;
	FILE *maps = maps_of(p->tgid);
	bool begun = false, found = false;
	struct mapping m;

	while (maps && !begun && next_code(maps, &m)) {
		const struct scribe_uprobed *f = scribe_uprobes_known_inode(l->uprobes, m.ino);

		for (unsigned i = 0; f && i < f->nlibraries; i++) {
			if (f->library[i].layer != SCRIBE_LAYER_MPIIO || is_inside(l, m.ino))
				continue;
			found = true;
			begun |= has_begun(d, p, &f->library[i].begun, base_of(f, &m));
		}
	}
	if (maps)
		fclose(maps);
	return begun || (!found && unknown);
}

/* Modules of which calls may have gone by in a process that mapped the file before it was probed. */
static uint64_t missed_in(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_uprobed *f,
			  const struct mapping *m)
{
	struct scribe_libs *l = d->libs;
	uint64_t missed = 0;

	for (unsigned i = 0; i < f->nlibraries; i++) {
		enum scribe_layer layer = f->library[i].layer;
		bool begun;

		if (layer == SCRIBE_LAYER_MPIIO && is_inside(l, m->ino))
			begun = mpi_has_begun(d, p, false);
		else if (layer == SCRIBE_LAYER_PNETCDF)
			begun = mpi_has_begun(d, p, true);
		else
			begun = has_begun(d, p, &f->library[i].begun, base_of(f, m));

		if (begun)
			missed |= f->library[i].modules;
	}
	return missed;
}

/* Have the mapping of an inode found and its file looked at: where it lies, and its name. */
static bool look_at(struct scribe_daemon *d, const struct scribe_process *p, uint64_t ino,
		    struct scribe_hand_found *ret)
{
	const struct scribe_search s = {.what = SCRIBE_SEARCH_MAPPED, .pid = p->tgid, .inode = ino};

	memset(ret, 0, sizeof(*ret));
	d->libs->late = true;
	scribe_libs_search(d, p->work, &s, ret);
	if (scribe_uprobes_attached(d->libs->uprobes))
		scribe_libs_attach_inside(d->libs);
	d->libs->late = false;
	return ret->more;
}

void scribe_libs_mapped(struct scribe_daemon *d, const struct scribe_process *p, uint64_t dev, uint64_t ino,
			uint64_t when_ns)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f;
	struct scribe_hand_found found = {0};
	char why[320];
	struct mapping m;
	uint64_t missed;

	if (!l)
		return;
	/* the kernel's form of a device number is another than stat's */
	f = scribe_uprobes_known(l->uprobes, makedev(dev >> 20, dev & 0xfffff), ino);
	/* every program has it; whoever does not come to use MPI does not call it */
	if (!f && !scribe_uprobes_attached(l->uprobes) && is_inside(l, ino))
		return;
	if (!f && look_at(d, p, ino, &found))
		f = scribe_uprobes_known(l->uprobes, found.dev, ino);
	if (f)
		scribe_missed(p, f->refused, l->why);
	if (!f || !f->modules || f->since_ns <= when_ns)
		return;
	/* where it lies in this process */
	if (!found.more && !look_at(d, p, ino, &found))
		return;
	f = scribe_uprobes_known(l->uprobes, found.dev, ino);
	if (!f)
		return;
	m = (struct mapping){found.start, found.offset, ino};
	missed = missed_in(d, p, f, &m);
	snprintf(why, sizeof(why), "%.200s was called before it was probed", found.label);
	scribe_missed(p, missed, why);
	if (missed && l->verbose)
		fprintf(stderr, "ioscribed: %s: was called before it was probed, by %d\n", found.label, p->tgid);
}

void scribe_libs_resumed(struct scribe_daemon *d, const struct scribe_process *p)
{
	FILE *maps = d->libs ? maps_of(p->tgid) : NULL;
	struct mapping m;

	while (maps && next_code(maps, &m)) {
		const struct scribe_uprobed *f = scribe_uprobes_known_inode(d->libs->uprobes, m.ino);

		/* of probes that an earlier daemon has left each mapping is judged when it is told */
		if (f && f->since_ns >= d->libs->begun_ns)
			scribe_missed(p, missed_in(d, p, f, &m),
				      "no daemon lived for a while, and nothing was pinned");
	}
	if (maps)
		fclose(maps);
}

/* A stream's, unless the program counts it itself. What it has moved is known by `ahead`, at any moment. */
static void stop_calls(struct scribe_slot *s)
{
	uint32_t flags = __atomic_load_n(&s->flags, __ATOMIC_RELAXED);

	if (!(flags & SCRIBE_SF_CALLS) || (flags & SCRIBE_SF_INSIDE))
		return;
	__atomic_fetch_or(&s->flags, SCRIBE_SF_STOPPED, __ATOMIC_RELAXED);
	__atomic_fetch_and(&s->flags, ~(uint32_t)SCRIBE_SF_CALLS, __ATOMIC_RELAXED);
}

/* Streams whose calls are no longer counted: from now on their system calls are. */
static void forget_calls(struct scribe_daemon *d)
{
	for (uint32_t i = 1; i <= d->processes; i++) {
		const struct scribe_proc *p = scribe_bpf_proc(d->bpf, i);
		uint32_t at = p && p->serial ? p->head : 0;

		for (uint32_t n = 0; at && n < d->slots; n++) {
			struct scribe_slot *s = scribe_bpf_slot(d->bpf, at);

			if (!s || s->serial != p->serial)
				break;
			if (s->kind == SCRIBE_KIND_STDIO)
				stop_calls(s);
			at = s->next == SCRIBE_LINKING ? 0 : s->next;
		}
	}
}

void scribe_libs_guard(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns(), calls, spent;

	if (!l || !l->stdio_calls || now - l->guard_ns < GUARD_NS)
		return;
	calls = scribe_uprobes_stream_calls(l->uprobes);
	spent = (calls - l->guard_calls) * CALL_COST_NS;
	if (spent * 100 > (now - l->guard_ns) * l->stdio_share) {
		scribe_uprobes_stop_stream_calls(l->uprobes);
		forget_calls(d);
		scribe_uprobes_drop_stream_calls(l->uprobes);
		l->stdio_calls = false;
		if (l->verbose)
			fprintf(stderr, "ioscribed: counting stream calls cost too much: stopped\n");
	}
	l->guard_calls = calls;
	l->guard_ns = now;
}

static int by_serial(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Serials in the kernel's process table, in order; read when first asked for. */
struct living {
	const struct scribe_daemon *d;
	uint32_t *serial;
	size_t n;
};

static bool is_living(void *ctx, uint32_t serial)
{
	struct living *l = ctx;

	if (!l->serial) {
		l->serial = malloc((l->d->processes + 1) * sizeof(*l->serial));
		if (!l->serial)
			return true;
		for (uint32_t i = 1; i <= l->d->processes; i++) {
			const struct scribe_proc *p = scribe_bpf_proc(l->d->bpf, i);

			if (p && p->serial)
				l->serial[l->n++] = p->serial;
		}
		qsort(l->serial, l->n, sizeof(*l->serial), by_serial);
	}
	return l->n && bsearch(&serial, l->serial, l->n, sizeof(serial), by_serial);
}

/* Who lives is read for each table anew, when its entries have been. */
static void sweep_table(struct scribe_daemon *d, const char *name)
{
	struct living living = {.d = d};

	scribe_tables_sweep(scribe_uprobes_table(d->libs->uprobes, name), is_living, &living);
	free(living.serial);
}

/* To every job, because any may have a record with it. */
static void take_shape(void *ctx, int64_t key, const struct scribe_shape *shape)
{
	struct scribe_daemon *d = ctx;
	struct scribe_shape known;

	for (struct scribe_work *w = d->works; w; w = w->next)
		if (w->shapes.by_key.used < SCRIBE_SHAPES_MAX &&
		    !scribe_shapes_find(&w->shapes, key, &known) &&
		    scribe_shapes_keep(&w->shapes, key, shape) < 0)
			w->memory_out++;
}

void scribe_libs_ended(struct scribe_daemon *d)
{
	if (d->libs)
		d->libs->ended++;
}

void scribe_libs_sweep(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns();

	if (!l || !l->ended || (l->ended < SWEEP_ENDED && now - l->swept_ns < SWEEP_NS))
		return;
	sweep_table(d, "scribe_handles");
	sweep_table(d, "scribe_above");
	scribe_tables_move_shapes(scribe_uprobes_table(l->uprobes, "scribe_shapes"), take_shape, d);
	l->ended = 0;
	l->swept_ns = now;
}

bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_shape *ret_shape)
{
	return d->libs && scribe_uprobes_shape(d->libs->uprobes, key, ret_shape);
}

size_t scribe_libs_covered(const struct scribe_daemon *d, uint32_t image,
			   struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX])
{
	return d->libs ? scribe_uprobes_covered(d->libs->uprobes, image, ret_byte) : 0;
}

void scribe_libs_stop(struct scribe_daemon *d, bool for_good)
{
	if (!d->libs)
		return;
	if (for_good)
		scribe_uprobes_free(d->libs->uprobes);
	else
		scribe_uprobes_leave(d->libs->uprobes);
	scribe_find_free(d->libs->find);
	scribe_libs_ask_end(d->libs);
	free(d->libs);
	d->libs = NULL;
}
