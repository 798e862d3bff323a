/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes beneath the probes that only data calls of MPI-IO pass: a program that
 * counts these itself may put them back in its own memory.
 */
#ifndef UPROBES_ELF_ORIGINAL_BYTES_H
#define UPROBES_ELF_ORIGINAL_BYTES_H

#include "logfmt/rules/streams.h"
#include "uprobes/elf/sites.h"

struct scribe_original_byte {
	uint32_t image;
	struct scribe_probe_byte byte;
};

/* Zero to begin with; `at` is freed by its owner. */
struct scribe_original_bytes {
	struct scribe_original_byte *at;
	size_t n;
};

/* Remember those of a library, `image` among the kernel's. Without memory such programs are slower. */
void scribe_original_add(struct scribe_original_bytes *c, const struct scribe_plan *plan, uint32_t image);
/* One that was remembered before. 0 or -ENOMEM. */
int scribe_original_put(struct scribe_original_bytes *c, const struct scribe_original_byte *byte);
/* Those of a library: how many. */
size_t scribe_original_of(const struct scribe_original_bytes *c, uint32_t image,
			 struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX]);

#endif
