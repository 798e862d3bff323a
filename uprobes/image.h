/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be known of a library's structures, read from its own code: the
 * offsets in its small accessor functions. Never assumed: what cannot be read
 * stays 0, and the handlers do without.
 */
#ifndef UPROBES_IMAGE_H
#define UPROBES_IMAGE_H

#include "uprobes/elf.h"
#include "uprobes/wire.h"

void scribe_image_read(const struct scribe_elf *elf, enum scribe_layer layer, struct scribe_image *ret_image);

#endif
