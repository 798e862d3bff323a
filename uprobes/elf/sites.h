/* SPDX-License-Identifier: BSD-3-Clause */
/* From a library's probe table and its file to the places to probe. */
#ifndef UPROBES_ELF_SITES_H
#define UPROBES_ELF_SITES_H

#include "uprobes/elf/elf.h"
#include "uprobes/tables/probes.h"

struct scribe_planned {
	const struct scribe_probe *probe;
	uint64_t offset;         /* in the file */
	uint64_t semaphore;      /* offset of what tells the library that it is probed, 0 none */
	struct scribe_site site; /* all but the image */
	bool emulated;
};

struct scribe_plan {
	struct scribe_planned *at;
	size_t n, room;
};

/* Is the library in this file? */
bool scribe_library_in(const struct scribe_elf *elf, const struct scribe_library *library);
/* The places, each once (aliases share an address). 0 or -ENOMEM. */
int scribe_plan_make(const struct scribe_elf *elf, const struct scribe_library *library,
		     const struct scribe_library_offsets *image, struct scribe_plan *ret_plan);
/* One more. 0 or -ENOMEM. */
int scribe_plan_add(struct scribe_plan *plan, const struct scribe_planned *one);
/* A site as its row says it, with its arguments in these registers. */
void scribe_site_of(const struct scribe_probe *p, enum scribe_layer layer, uint64_t vaddr,
		    const uint8_t reg[SCRIBE_SITE_ARGS], struct scribe_site *ret_site);
void scribe_plan_clear(struct scribe_plan *plan);

#endif
