/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets are never assumed: what cannot be decoded is 0, and handlers work without it. */
#ifndef UPROBES_ELF_LIBRARY_OFFSETS_H
#define UPROBES_ELF_LIBRARY_OFFSETS_H

#include "uprobes/elf/elf.h"
#include "uprobes/wire.h"

/* A variable that shows that the library was started; no call has an effect before. */
struct scribe_init_state {
	uint64_t vaddr; /* 0: none */
	uint8_t bytes;
	uint8_t least; /* smallest value that means started */
};

void scribe_library_offsets_init_state(const struct scribe_elf *elf, enum scribe_layer layer,
				       struct scribe_init_state *ret_init_state);
void scribe_library_offsets_read(const struct scribe_elf *elf, enum scribe_layer layer,
				 struct scribe_library_offsets *ret_image);

#endif
