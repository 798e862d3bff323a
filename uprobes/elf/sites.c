// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plans where to probe: for each row of a table its symbol's address, a cheap instruction near it, and the
 * registers of the arguments there. The study helper chooses; the daemon only fills plans from its result
 * (analysis.c). Must not know: BPF, processes.
 */
#include "uprobes/elf/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uprobes/elf/insn.h"

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

#define ALL_ROLES ((1u << SCRIBE_POINT_ARGS) - 1)

/* Roles that must be available; the offset is not worth a costly probe. */
static unsigned needed_roles(const struct scribe_probe *p)
{
	switch (p->fn) {
	case SCRIBE_FN_MPI_DATA:
		return 1u << 0 | 1u << 1 | 1u << 2;
	case SCRIBE_FN_MPI_VIEW:
		return 1u << 0 | 1u << 1;
	default:
		return ALL_ROLES;
	}
}

static unsigned wanted_args(const struct scribe_probe *p, unsigned roles)
{
	unsigned wanted = 0;

	for (int i = 0; i < SCRIBE_POINT_ARGS; i++)
		if (p->args[i] >= 0 && roles >> i & 1)
			wanted |= 1u << p->args[i];
	return wanted;
}

static unsigned choose(const struct scribe_elf *elf, const struct scribe_probe *p, uint64_t vaddr,
		       struct scribe_insn_address *ret_address)
{
	const unsigned needed = needed_roles(p);
	struct scribe_insn_address without;

	scribe_insn_choose(code_of, elf, vaddr, wanted_args(p, ALL_ROLES), ret_address);
	if (ret_address->emulated || needed == ALL_ROLES)
		return ALL_ROLES;
	scribe_insn_choose(code_of, elf, vaddr, wanted_args(p, needed), &without);
	if (!without.emulated)
		return ALL_ROLES;
	*ret_address = without;
	return needed;
}

void scribe_point_of(const struct scribe_probe *p, enum scribe_layer layer, uint64_t vaddr,
		     const uint8_t reg[SCRIBE_POINT_ARGS], struct scribe_point *s)
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

static void fill_point(const struct scribe_probe *p, enum scribe_layer layer, unsigned roles,
		       const struct scribe_insn_address *insn, struct scribe_point *s)
{
	uint8_t reg[SCRIBE_POINT_ARGS];

	for (int i = 0; i < SCRIBE_POINT_ARGS; i++)
		reg[i] = p->args[i] < 0 || !(roles >> i & 1) ? SCRIBE_REG_NONE : insn->reg[p->args[i]];
	scribe_point_of(p, layer, insn->vaddr, reg, s);
}

/* NULL: none. */
static struct scribe_planned *planned_at(const struct scribe_plan *plan, uint64_t vaddr)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->at[i].point.vaddr == vaddr)
			return &plan->at[i];
	return NULL;
}

static bool same_meaning(const struct scribe_point *a, const struct scribe_point *b)
{
	/* a wide count that arrives as an int was narrowed by the library */
	return a->fn == b->fn && a->op == b->op && a->count_at == b->count_at &&
	       ((a->flags ^ b->flags) & ~SCRIBE_POINT_WIDE) == 0 && a->deref == b->deref && a->implied == b->implied &&
	       !memcmp(a->reg, b->reg, sizeof(a->reg));
}

int scribe_plan_add(struct scribe_plan *plan, const struct scribe_planned *one)
{
	if (plan->n == plan->capacity) {
		size_t capacity = plan->capacity ? plan->capacity * 2 : 64;
		struct scribe_planned *more = realloc(plan->at, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		plan->at = more;
		plan->capacity = capacity;
	}
	plan->at[plan->n++] = *one;
	return 0;
}

/* NULL: not our library. */
static const char *semaphore_of(const struct scribe_library *l)
{
	return scribe_library_is_inside(l) ? "ioscribe_file_on" : NULL;
}

/* 0 also without the symbol. -ENOEXEC: no semaphore variable. */
static int plan_symbol(const struct scribe_elf *elf, const struct scribe_probe *p, const struct scribe_library *l,
		       const char *name, struct scribe_plan *plan)
{
	enum scribe_layer layer = l->layer;
	struct scribe_planned one = {.probe = p};
	struct scribe_insn_address insn;
	struct scribe_elf_symbol s;
	struct scribe_planned *there;
	unsigned roles;

	if (!scribe_elf_find(elf, name, &s))
		return 0;
	roles = choose(elf, p, s.vaddr, &insn);
	fill_point(p, layer, roles, &insn, &one.point);
	there = planned_at(plan, insn.vaddr);
	if (there && !same_meaning(&there->point, &one.point))
		fill_point(p, layer, needed_roles(p), &insn, &one.point);
	if (there && !same_meaning(&there->point, &one.point)) {
		if (!insn.other)
			return 0; /* one function with two names: the first row counts */
		scribe_insn_entry(s.vaddr, &insn);
		fill_point(p, layer, ALL_ROLES, &insn, &one.point);
		there = planned_at(plan, insn.vaddr);
	}
	if (there || !scribe_elf_offset(elf, insn.vaddr, &one.offset))
		return 0;
	one.emulated = insn.emulated;
	/* Our library must know that it is probed; otherwise it would not count. */
	if (semaphore_of(l) &&
	    (!scribe_elf_find(elf, semaphore_of(l), &s) || !scribe_elf_data_offset(elf, s.vaddr, &one.semaphore)))
		return -ENOEXEC;
	return scribe_plan_add(plan, &one);
}

int scribe_plan_make(const struct scribe_elf *elf, const struct scribe_library *library,
		     const struct scribe_library_offsets *image, struct scribe_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	for (size_t i = 0; i < *library->n; i++) {
		const struct scribe_probe *p = &library->probes[i];
		char profiling[80];
		int rc;

		/* Open MPI's sizes are in its structures */
		if ((p->flags & SCRIBE_POINT_INNER) && library->layer == SCRIBE_LAYER_MPIIO &&
		    image->flavour == SCRIBE_FLAVOUR_OPENMPI)
			continue;
		rc = plan_symbol(elf, p, library, p->symbol, plan);
		if (rc == 0 && library->layer == SCRIBE_LAYER_MPIIO) {
			/* The PMPI_ name is often, but not always, the same address. */
			snprintf(profiling, sizeof(profiling), "P%s", p->symbol);
			rc = plan_symbol(elf, p, library, profiling, plan);
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
