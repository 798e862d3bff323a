/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether somebody else probes the instructions that our probes of data calls stand at. */
#ifndef UPROBES_ATTACH_ALONE_H
#define UPROBES_ATTACH_ALONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"

/* Descriptors: the program that stands there, the one that lists, the table of sites. */
struct scribe_alone_of {
	int program, list, sites;
};

/* Is none of these places of a library, `image` among the kernel's, anybody else's, too? Unknown is no. */
bool scribe_places_are_alone(const struct scribe_alone_of *of, uint32_t image, const struct scribe_probe_byte *byte,
			     size_t n);

#endif
