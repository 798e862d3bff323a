/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes beneath the probes that only data calls of MPI-IO pass: a program that
 * counts these itself may put them back in its own memory.
 */
#ifndef UPROBES_COVERED_H
#define UPROBES_COVERED_H

#include "logfmt/rules/streams.h"
#include "uprobes/sites.h"

struct scribe_covered_byte {
	uint32_t image;
	struct scribe_probe_byte byte;
};

/* Zero to begin with; `at` is freed by its owner. */
struct scribe_covered {
	struct scribe_covered_byte *at;
	size_t n;
};

/* Remember those of a library, `image` among the kernel's. Without memory such programs are slower. */
void scribe_covered_add(struct scribe_covered *c, const struct scribe_plan *plan, uint32_t image);
/* One that was remembered before. 0 or -ENOMEM. */
int scribe_covered_put(struct scribe_covered *c, const struct scribe_covered_byte *byte);
/* Those of a library: how many. */
size_t scribe_covered_of(const struct scribe_covered *c, uint32_t image,
			 struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX]);

#endif
