// SPDX-License-Identifier: BSD-3-Clause
/*
 * Libraries that were in use before they were probed: may calls have gone by? Must not know
 * how mappings are found, of records or logs.
 */
#include "runtime/daemon/collect/library_probes_private.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/journal/job_journal.h"
#include "uprobes/tables/probes.h"

#define MAPS_MAX 8192 /* lines of a process's mappings, a look */

/* A piece of code of a process. */
struct mapping {
	uint64_t start, offset, ino;
};

/* The next executable mapping of a file; false: no more, or no more is looked at. */
static bool next_code(FILE *maps, struct mapping *m, unsigned *left)
{
	char line[PATH_MAX + 128];

	while (*left && fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset, ino;
		char perms[8];
		int at = 0;

		--*left;
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
static bool has_begun(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_init_state *b,
		      uint64_t base, struct scribe_peeks *peeks)
{
	uint32_t value = 0;

	if (!b->vaddr || b->bytes > sizeof(value))
		return true;
	return !scribe_libs_peek(d, p->uid, p->tgid, base + b->vaddr, b->bytes, peeks, &value) || value >= b->least;
}

static uint64_t base_of(const struct scribe_uprobed *f, const struct mapping *m)
{
	return m->start - (m->offset + f->bias);
}

/* MPI, without which nobody calls PnetCDF; where none is known of, too. */
static bool mpi_has_begun(struct scribe_daemon *d, const struct scribe_process *p, struct scribe_peeks *peeks)
{
	struct scribe_libs *l = d->libs;
	FILE *maps = maps_of(p->tgid);
	bool initialized = false, found = false;
	unsigned left = MAPS_MAX;
	struct mapping m;

	while (maps && !initialized && next_code(maps, &m, &left)) {
		const struct scribe_uprobed *f = scribe_uprobes_known_inode(l->uprobes, m.ino);

		for (unsigned i = 0; f && i < f->nlibraries; i++) {
			if (f->library[i].layer != SCRIBE_LAYER_MPIIO || f->library[i].is_wrap)
				continue;
			found = true;
			initialized |= has_begun(d, p, &f->library[i].init_state, base_of(f, &m), peeks);
		}
	}
	if (maps)
		fclose(maps);
	return initialized || !left || !found;
}

/* Modules of which calls may have gone by in a process that mapped the file before it was probed. */
static uint64_t missed_in(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_uprobed *f,
			  const struct mapping *m, struct scribe_peeks *peeks)
{
	uint64_t missed = 0;

	for (unsigned i = 0; i < f->nlibraries; i++) {
		bool initialized;

		if (f->library[i].is_wrap)
			continue;
		if (f->library[i].layer == SCRIBE_LAYER_PNETCDF)
			initialized = mpi_has_begun(d, p, peeks);
		else
			initialized = has_begun(d, p, &f->library[i].init_state, base_of(f, m), peeks);

		if (initialized)
			missed |= f->library[i].modules;
	}
	return missed;
}

void scribe_libs_unread(struct scribe_daemon *d, struct scribe_process *p, const char *name, const char *cause)
{
	uint64_t modules = strcmp(name, SCRIBE_INSIDE_NAME) ? scribe_uprobes_named(d->libs->uprobes, name) : 0;
	char why[320];

	if (!modules)
		return;
	snprintf(why, sizeof(why), "%.127s could not be looked into: %.127s", name, cause);
	scribe_mark_incomplete(p, modules, why);
	if (d->libs->verbose)
		fprintf(stderr, "ioscribed: %s, mapped by %d\n", why, p->tgid);
}

/* Modules that programs feed which load this file and count its calls themselves. */
static uint64_t counted_inside(const struct scribe_uprobed *f)
{
	uint64_t modules = 0;

	for (unsigned i = 0; i < f->nlibraries; i++)
		if (f->library[i].counted_inside)
			modules |= f->library[i].modules;
	return modules;
}

uint64_t scribe_libs_fed(const struct scribe_uprobed *f)
{
	return f->modules | counted_inside(f);
}

uint64_t scribe_libs_since(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_uprobed *f,
			   const char *name)
{
	uint64_t since = f->modules ? f->since_ns : 0, counted = counted_inside(f), inside_since;
	char why[320];

	scribe_mark_incomplete(p, f->refused, d->libs->why);
	if (!counted)
		return since;
	inside_since = scribe_uprobes_inside_since(d->libs->uprobes);
	if (p->wrap_state != SCRIBE_WRAP_ABSENT && (inside_since != SCRIBE_UPROBED_NEVER || scribe_libs_busy(d)))
		return inside_since > since ? inside_since : since;
	snprintf(why, sizeof(why), "%.127s is not probed (mpiio_wrap = yes), and %s", name,
		 p->wrap_state == SCRIBE_WRAP_ABSENT ? "a program that uses it runs without " SCRIBE_INSIDE_NAME
					       : SCRIBE_INSIDE_NAME " cannot be probed");
	scribe_mark_incomplete(p, counted, why);
	return since;
}

bool scribe_libs_judge(struct scribe_daemon *d, struct scribe_process *p, uint64_t ino, uint64_t when_ns,
		       const struct scribe_helper_found *found, struct scribe_peeks *peeks)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f = scribe_uprobes_known(l->uprobes, found->dev, ino);
	const struct mapping m = {found->start, found->offset, ino};
	char why[320];
	uint64_t missed, since;

	if (!f)
		return true;
	since = scribe_libs_since(d, p, f, found->label);
	if (since <= when_ns)
		return true;
	if (since == SCRIBE_UPROBED_NEVER && scribe_libs_busy(d))
		return false;
	peeks->later = false;
	missed = missed_in(d, p, f, &m, peeks);
	if (peeks->later)
		return false;
	snprintf(why, sizeof(why), "%.200s was called before it was probed", found->label);
	scribe_mark_incomplete(p, missed, why);
	if (missed && l->verbose)
		fprintf(stderr, "ioscribed: %s: was called before it was probed, by %d\n", found->label, p->tgid);
	return true;
}
