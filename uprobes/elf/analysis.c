// SPDX-License-Identifier: BSD-3-Clause
/*
 * The study of a file: a helper makes it; the daemon checks every number and plans without reading the file,
 * which may have taken over the helper. Must not know: BPF, processes.
 */
#include "uprobes/elf/analysis.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Our own library excludes all others. */
static uint32_t search(const struct scribe_elf *elf)
{
	uint32_t candidates = 0, ours = 0;

	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (scribe_library_in(elf, &scribe_libraries[i]))
			*(scribe_library_is_inside(&scribe_libraries[i]) ? &ours : &candidates) |= 1u << i;
	return ours ? ours : candidates;
}

static void touch(int fd, uint64_t offset)
{
	char byte;

	/* Into the page cache: otherwise the attacher waits for the file system. */
	(void)!pread(fd, &byte, 1, (off_t)offset);
}

/* What does not fit is missing; `whole` shows it. */
static void add_addresses(int fd, const struct scribe_library *l, uint8_t library, const struct scribe_plan *plan,
			  struct scribe_elf_analysis *s)
{
	for (size_t i = 0; i < plan->n && s->nplaces < SCRIBE_STUDY_ADDRESSES; i++) {
		const struct scribe_planned *one = &plan->at[i];
		struct scribe_elf_analysis_probe *to = &s->point[s->nplaces++];

		*to = (struct scribe_elf_analysis_probe){.vaddr = one->point.vaddr,
							 .offset = one->offset,
							 .semaphore = one->semaphore,
							 .row = (uint16_t)(one->probe - l->probes),
							 .library = library,
							 .emulated = one->emulated};
		memcpy(to->reg, one->point.reg, sizeof(to->reg));
		touch(fd, one->offset);
	}
}

static int analyse_library(const struct scribe_elf *elf, int fd, uint32_t which, struct scribe_elf_analysis *s)
{
	const struct scribe_library *l = &scribe_libraries[which];
	uint32_t k = s->nlibraries, before = s->nplaces;
	struct scribe_plan plan;
	int rc;

	if (k == SCRIBE_LIBRARIES_A_FILE)
		return 0;
	s->library[k].which = which;
	scribe_library_offsets_read(elf, l->layer, &s->library[k].image);
	scribe_library_offsets_init_state(elf, l->layer, &s->library[k].init_state);
	rc = scribe_plan_make(elf, l, &s->library[k].image, &plan);
	s->nlibraries++;
	if (rc < 0)
		return rc == -ENOEXEC ? 0 : rc;
	add_addresses(fd, l, (uint8_t)k, &plan, s);
	s->library[k].whole = s->nplaces - before == plan.n;
	scribe_plan_clear(&plan);
	return 0;
}

int scribe_elf_analyse(int fd, struct scribe_elf_analysis *s)
{
	struct scribe_elf *elf;
	uint32_t candidates;
	int rc = scribe_elf_open(fd, "file", &elf, NULL);

	memset(s, 0, sizeof(*s));
	if (rc < 0)
		return rc;
	scribe_elf_code_bias(elf, &s->bias);
	s->program = scribe_elf_is_program(elf);
	while (s->ncode < SCRIBE_STUDY_CODE &&
	       scribe_elf_code_piece(elf, s->ncode, &s->code[s->ncode].offset, &s->code[s->ncode].bytes))
		s->ncode++;
	candidates = search(elf);
	for (uint32_t i = 0; rc == 0 && i < scribe_nlibraries; i++)
		if (candidates & 1u << i)
			rc = analyse_library(elf, fd, i, s);
	scribe_elf_free(elf);
	return rc;
}

static bool is_code(const struct scribe_elf_analysis *s, uint64_t offset)
{
	/* A breakpoint outside of code would change data. */
	for (uint32_t i = 0; i < s->ncode; i++)
		if (offset >= s->code[i].offset && offset - s->code[i].offset < s->code[i].bytes)
			return true;
	return false;
}

/* Only existing rows and registers, and offsets in code. */
static bool check_address(const struct scribe_elf_analysis *s, const struct scribe_elf_analysis_probe *p,
			  uint64_t file_bytes)
{
	const struct scribe_library *l;

	if (p->library >= s->nlibraries || !is_code(s, p->offset) || p->semaphore > file_bytes - sizeof(uint16_t))
		return false;
	l = &scribe_libraries[s->library[p->library].which];
	/* A semaphore elsewhere would be a write to user data. */
	if (p->row >= *l->n || (p->semaphore && !scribe_library_is_inside(l)))
		return false;
	for (int i = 0; i < SCRIBE_POINT_ARGS; i++)
		if (p->reg[i] > SCRIBE_REG_R15 && p->reg[i] != SCRIBE_REG_NONE)
			return false;
	return true;
}

/* Before any other use. */
bool scribe_elf_analysis_check(const struct scribe_elf_analysis *s, uint64_t file_bytes)
{
	if (s->nlibraries > SCRIBE_LIBRARIES_A_FILE || s->ncode > SCRIBE_STUDY_CODE ||
	    s->nplaces > SCRIBE_STUDY_ADDRESSES || file_bytes < sizeof(uint16_t))
		return false;
	for (uint32_t i = 0; i < s->nlibraries; i++)
		if (s->library[i].which >= scribe_nlibraries || s->library[i].image.flavour > SCRIBE_FLAVOUR_INSIDE)
			return false;
	for (uint32_t i = 0; i < s->ncode; i++)
		if (s->code[i].offset > file_bytes || s->code[i].bytes > file_bytes - s->code[i].offset)
			return false;
	for (uint32_t i = 0; i < s->nplaces; i++)
		if (!check_address(s, &s->point[i], file_bytes))
			return false;
	return true;
}

int scribe_elf_analysis_plan(const struct scribe_elf_analysis *s, unsigned library, struct scribe_plan *plan)
{
	const struct scribe_library *l = &scribe_libraries[s->library[library].which];

	memset(plan, 0, sizeof(*plan));
	for (uint32_t i = 0; i < s->nplaces; i++) {
		const struct scribe_elf_analysis_probe *p = &s->point[i];
		struct scribe_planned one = {.probe = &l->probes[p->library == library ? p->row : 0],
					     .offset = p->offset,
					     .semaphore = p->semaphore,
					     .emulated = p->emulated};
		int rc;

		if (p->library != library)
			continue;
		scribe_point_of(one.probe, l->layer, p->vaddr, p->reg, &one.point);
		rc = scribe_plan_add(plan, &one);
		if (rc < 0) {
			scribe_plan_clear(plan);
			return rc;
		}
	}
	return 0;
}
