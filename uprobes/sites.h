/* SPDX-License-Identifier: BSD-3-Clause */
/* From a library's probe table and its file to the places to probe. */
#ifndef UPROBES_SITES_H
#define UPROBES_SITES_H

#include "uprobes/elf.h"
#include "uprobes/probes.h"

struct scribe_planned {
	const struct scribe_probe *probe;
	uint64_t offset;         /* in the file */
	uint64_t semaphore;      /* offset of what tells the library that it is probed, 0 none */
	struct scribe_site site; /* all but the image */
	bool cheap;
};

struct scribe_plan {
	struct scribe_planned *at;
	size_t n, room;
};

/* Is the library in this file? */
bool scribe_library_in(const struct scribe_elf *elf, const struct scribe_library *library);
/*
 * The places, each once (aliases share an address). `calls`: also the probes
 * flagged SCRIBE_SITE_COUNTS. 0 or -ENOMEM.
 */
int scribe_plan_make(const struct scribe_elf *elf, const struct scribe_library *library,
		     const struct scribe_image *image, bool calls, struct scribe_plan *ret_plan);
/*
 * Have the places in the page cache. The kernel reads what is not there without the lock that ext4 asks for
 * (a warning in the kernel's log, 6.18; a machine may be set to stop at those). Failing costs nothing else.
 */
void scribe_plan_read(const struct scribe_plan *plan, const char *path);
void scribe_plan_clear(struct scribe_plan *plan);

#endif
