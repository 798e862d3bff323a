/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be known of a library's structures, read from its own code: the
 * offsets in its small accessor functions. Never assumed: what cannot be read
 * stays 0, and the handlers do without.
 */
#ifndef UPROBES_ELF_LIBRARY_OFFSETS_H
#define UPROBES_ELF_LIBRARY_OFFSETS_H

#include "uprobes/elf/elf.h"
#include "uprobes/wire.h"

/* How a library tells that it has been started: no call of its has an effect before. */
struct scribe_init_state {
	uint64_t vaddr; /* of an integer; 0: it does not tell */
	uint8_t bytes;  /* its size */
	uint8_t least;  /* smallest value that means started */
};

void scribe_library_offsets_init_state(const struct scribe_elf *elf, enum scribe_layer layer,
			struct scribe_init_state *ret_init_state);
void scribe_library_offsets_read(const struct scribe_elf *elf, enum scribe_layer layer,
				 struct scribe_library_offsets *ret_image);

#endif
