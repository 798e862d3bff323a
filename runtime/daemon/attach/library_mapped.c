// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks whether calls were missed in libraries that were mapped before they were probed: the process's modules
 * are then incomplete. Must not know how mappings are found.
 */
#include "runtime/daemon/attach/library_probes_private.h"

#include <stdio.h>
#include <string.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/journal/job_journal.h"
#include "uprobes/tables/probes.h"

/* True if it cannot be read, too. The least value for "initialized" is in the library's tables. */
static bool has_begun(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_init_state *b,
		      uint64_t base, struct scribe_peeks *peeks)
{
	uint32_t value = 0;

	if (!b->vaddr || b->bytes > sizeof(value))
		return true;
	return !scribe_libs_peek(d, p->uid, p->tgid, base + b->vaddr, b->bytes, peeks, &value) || value >= b->least;
}

static uint64_t missed_in(struct scribe_daemon *d, const struct scribe_process *p, const struct scribe_uprobed *f,
			  uint64_t base, struct scribe_peeks *peeks)
{
	uint64_t missed = 0;

	for (unsigned i = 0; i < f->nlibraries; i++)
		if (!f->library[i].is_wrap && has_begun(d, p, &f->library[i].init_state, base, peeks))
			missed |= f->library[i].modules;
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

/* Modules of which programs that load this file count the calls. */
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

/* Our MPI wrappers are called only in programs that also map an MPI library. */
static bool is_unprobed_wrap(const struct scribe_uprobed *f)
{
	return f->refused && f->nlibraries == 1 && f->library[0].is_wrap;
}

uint64_t scribe_libs_since(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_uprobed *f,
			   const char *name)
{
	uint64_t since = f->modules ? f->since_ns : 0, counted = counted_inside(f), inside_since;
	uint64_t missed = f->refused;
	char why[320];

	if (is_unprobed_wrap(f)) {
		p->wrap_state = SCRIBE_WRAP_UNPROBED;
		missed &= p->counted_inside;
	}
	scribe_mark_incomplete(p, missed, d->libs->why);
	/* these need the wrapper in the process, and its probes */
	if (!counted)
		return since;
	p->counted_inside |= counted;
	inside_since = scribe_uprobes_inside_since(d->libs->uprobes);
	if (p->wrap_state != SCRIBE_WRAP_ABSENT && p->wrap_state != SCRIBE_WRAP_UNPROBED &&
	    (inside_since != SCRIBE_UPROBED_NEVER || scribe_libs_busy(d)))
		return inside_since > since ? inside_since : since;
	snprintf(why, sizeof(why), "%.127s is not probed (mpiio_wrap = yes), and %s", name,
		 p->wrap_state == SCRIBE_WRAP_ABSENT ? "a program that uses it runs without " SCRIBE_INSIDE_NAME
						     : SCRIBE_INSIDE_NAME " cannot be probed");
	scribe_mark_incomplete(p, counted, why);
	return since;
}

bool scribe_libs_check_mapping(struct scribe_daemon *d, struct scribe_process *p, uint64_t ino, uint64_t when_ns,
			       const struct scribe_helper_found *found, struct scribe_peeks *peeks)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f = scribe_uprobes_known(l->uprobes, found->dev, ino);
	char why[320];
	uint64_t missed, since;

	if (!f)
		return true;
	since = scribe_libs_since(d, p, f, found->label);
	/* while its runtime waits the program makes no calls; the program before exec may have */
	if (since <= when_ns || (since <= p->began_ns && when_ns >= p->exec_ns))
		return true;
	if (since == SCRIBE_UPROBED_NEVER && scribe_libs_busy(d))
		return false;
	peeks->later = false;
	missed = missed_in(d, p, f, found->start - (found->offset + f->bias), peeks);
	if (peeks->later)
		return false;
	snprintf(why, sizeof(why), "%.200s was called before it was probed", found->label);
	scribe_mark_incomplete(p, missed, why);
	if (missed && l->verbose)
		fprintf(stderr, "ioscribed: %s: was called before it was probed, by %d\n", found->label, p->tgid);
	return true;
}
