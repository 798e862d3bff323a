/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of an ELF file: defined functions (dynamic symbols; in static programs the symbol table), file offsets, code, needed
 * libraries. Reads through a descriptor only.
 */
#ifndef UPROBES_ELF_ELF_H
#define UPROBES_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

struct scribe_elf;

struct scribe_elf_symbol {
	uint64_t vaddr;
	uint64_t bytes; /* 0: not in the file */
};

/* -ENOEXEC: not an ELF file of this machine, or damaged. `fd` may be closed afterwards. */
int scribe_elf_open(int fd, const char *label, struct scribe_elf **ret_elf, struct scribe_err *err);
struct scribe_elf *scribe_elf_free(struct scribe_elf *elf);

/* By name without version; the default version if there are several. */
bool scribe_elf_find(const struct scribe_elf *elf, const char *name, struct scribe_elf_symbol *ret_symbol);
/* False: not in an executable segment. */
bool scribe_elf_offset(const struct scribe_elf *elf, uint64_t vaddr, uint64_t *ret_offset);
/* For variables. */
bool scribe_elf_data_offset(const struct scribe_elf *elf, uint64_t vaddr, uint64_t *ret_offset);
/* False: no more pieces. */
bool scribe_elf_code_piece(const struct scribe_elf *elf, uint32_t i, uint64_t *ret_offset, uint64_t *ret_bytes);
/* Address minus offset of code; false: there is none. */
bool scribe_elf_code_bias(const struct scribe_elf *elf, uint64_t *ret_bias);
/* *ret_n: bytes to the segment's end in the file. NULL: not loaded. */
const unsigned char *scribe_elf_code(const struct scribe_elf *elf, uint64_t vaddr, size_t *ret_n);
void scribe_elf_needed(const struct scribe_elf *elf, void (*fn)(void *ctx, const char *name), void *ctx);
bool scribe_elf_is_program(const struct scribe_elf *elf);
/* Imports exec, dlopen or similar functions. */
bool scribe_elf_launches(const struct scribe_elf *elf);
const char *scribe_elf_rpath(const struct scribe_elf *elf);
/* DT_RPATH or DT_RUNPATH; "": none. */

#endif
