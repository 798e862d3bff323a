// SPDX-License-Identifier: BSD-3-Clause
/* Places to probe. Must not know: BPF, processes. */
#include "uprobes/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uprobes/insn.h"

bool scribe_library_in(const struct scribe_elf *elf, const struct scribe_library *library)
{
	struct scribe_elf_symbol s;

	return scribe_elf_find(elf, library->marker[0], &s) ||
	       (library->marker[1] && scribe_elf_find(elf, library->marker[1], &s));
}

static const unsigned char *code_of(const void *ctx, uint64_t vaddr, size_t *ret_n)
{
	return scribe_elf_code(ctx, vaddr, ret_n);
}

static unsigned wanted_args(const struct scribe_probe *p)
{
	unsigned wanted = 0;

	for (int i = 0; i < SCRIBE_SITE_ARGS; i++)
		if (p->args[i] >= 0)
			wanted |= 1u << p->args[i];
	return wanted;
}

void scribe_site_of(const struct scribe_probe *p, enum scribe_layer layer, uint64_t vaddr,
		    const uint8_t reg[SCRIBE_SITE_ARGS], struct scribe_site *s)
{
	memset(s, 0, sizeof(*s));
	s->fn = p->fn;
	s->layer = (uint8_t)layer;
	s->op = p->op;
	s->count_at = p->count_at;
	s->flags = p->flags;
	s->deref = p->deref;
	s->implied = p->implied;
	s->vaddr = vaddr;
	memcpy(s->reg, reg, sizeof(s->reg));
}

static void fill_site(const struct scribe_probe *p, enum scribe_layer layer,
		      const struct scribe_insn_place *place, struct scribe_site *s)
{
	uint8_t reg[SCRIBE_SITE_ARGS];

	for (int i = 0; i < SCRIBE_SITE_ARGS; i++)
		reg[i] = p->args[i] < 0 ? SCRIBE_REG_NONE : place->reg[p->args[i]];
	scribe_site_of(p, layer, place->vaddr, reg, s);
}

static struct scribe_planned *planned_at(const struct scribe_plan *plan, uint64_t vaddr)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->at[i].site.vaddr == vaddr)
			return &plan->at[i];
	return NULL;
}

/* Do two symbols mean the same at one place? */
static bool same_meaning(const struct scribe_site *a, const struct scribe_site *b)
{
	/* a wide count that comes to a place as an int was narrowed by the library */
	return a->fn == b->fn && a->op == b->op && a->count_at == b->count_at &&
	       ((a->flags ^ b->flags) & ~SCRIBE_SITE_WIDE) == 0 && a->deref == b->deref &&
	       a->implied == b->implied && !memcmp(a->reg, b->reg, sizeof(a->reg));
}

int scribe_plan_add(struct scribe_plan *plan, const struct scribe_planned *one)
{
	if (plan->n == plan->room) {
		size_t room = plan->room ? plan->room * 2 : 64;
		struct scribe_planned *more = realloc(plan->at, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		plan->at = more;
		plan->room = room;
	}
	plan->at[plan->n++] = *one;
	return 0;
}

/* The variable by which a library of ours knows that it is probed; NULL: not ours. */
static const char *semaphore_of(const struct scribe_probe *p)
{
	if (p->fn == SCRIBE_FN_STREAM_INSIDE)
		return "ioscribe_stream_on";
	return p->fn == SCRIBE_FN_MPI_INSIDE ? "ioscribe_file_on" : NULL;
}

static int plan_symbol(const struct scribe_elf *elf, const struct scribe_probe *p, enum scribe_layer layer,
		       const char *name, struct scribe_plan *plan)
{
	struct scribe_planned one = {.probe = p};
	struct scribe_insn_place place;
	struct scribe_elf_symbol s;
	struct scribe_planned *there;

	if (!scribe_elf_find(elf, name, &s))
		return 0;
	scribe_insn_choose(code_of, elf, s.vaddr, wanted_args(p), &place);
	fill_site(p, layer, &place, &one.site);
	there = planned_at(plan, place.vaddr);
	if (there && !same_meaning(&there->site, &one.site)) {
		if (!place.other)
			return 0; /* one function under two names: the first row speaks */
		/* shared by two functions that mean different things: their own entries */
		scribe_insn_entry(s.vaddr, &place);
		fill_site(p, layer, &place, &one.site);
		there = planned_at(plan, place.vaddr);
	}
	if (there || !scribe_elf_offset(elf, place.vaddr, &one.offset))
		return 0;
	one.cheap = place.cheap;
	if (semaphore_of(p) && (!scribe_elf_find(elf, semaphore_of(p), &s) ||
				!scribe_elf_data_offset(elf, s.vaddr, &one.semaphore)))
		return -ENOEXEC;
	return scribe_plan_add(plan, &one);
}

int scribe_plan_make(const struct scribe_elf *elf, const struct scribe_library *library,
		     const struct scribe_image *image, bool calls, struct scribe_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	for (size_t i = 0; i < *library->n; i++) {
		const struct scribe_probe *p = &library->probes[i];
		char profiling[80];
		int rc;

		if ((p->flags & SCRIBE_SITE_COUNTS) && !calls)
			continue;
		/* Open MPI tells sizes without such calls */
		if ((p->flags & SCRIBE_SITE_INNER) && library->layer == SCRIBE_LAYER_MPIIO &&
		    image->flavour == SCRIBE_FLAVOUR_OPENMPI)
			continue;
		rc = plan_symbol(elf, p, library->layer, p->symbol, plan);
		if (rc == 0 && library->layer == SCRIBE_LAYER_MPIIO) {
			snprintf(profiling, sizeof(profiling), "P%s", p->symbol);
			rc = plan_symbol(elf, p, library->layer, profiling, plan);
		}
		if (rc) {
			scribe_plan_clear(plan);
			return rc;
		}
	}
	return 0;
}

void scribe_plan_clear(struct scribe_plan *plan)
{
	free(plan->at);
	memset(plan, 0, sizeof(*plan));
}
