/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPROBES_ELF_POINTS_H
#define UPROBES_ELF_POINTS_H

#include "uprobes/elf/elf.h"
#include "uprobes/tables/probes.h"

struct scribe_planned {
	const struct scribe_probe *probe;
	uint64_t offset;
	uint64_t semaphore;        /* file offset of the variable that enables our own library, 0 none */
	struct scribe_point point; /* without the image */
	bool emulated;
};

struct scribe_plan {
	struct scribe_planned *at;
	size_t n, capacity;
};

bool scribe_library_in(const struct scribe_elf *elf, const struct scribe_library *library);
/* Each address once, though aliases share them. 0 or -ENOMEM. */
int scribe_plan_make(const struct scribe_elf *elf, const struct scribe_library *library,
		     const struct scribe_library_offsets *image, struct scribe_plan *ret_plan);
/* 0 or -ENOMEM. */
int scribe_plan_add(struct scribe_plan *plan, const struct scribe_planned *one);
void scribe_point_of(const struct scribe_probe *p, enum scribe_layer layer, uint64_t vaddr,
		     const uint8_t reg[SCRIBE_POINT_ARGS], struct scribe_point *ret_point);
void scribe_plan_clear(struct scribe_plan *plan);

#endif
