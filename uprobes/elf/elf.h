/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What probing needs of an ELF file: defined functions (dynamic symbols and,
 * in static programs, the symbol table), file offsets, code bytes, needed
 * libraries. Reads the file through a descriptor, never by a second
 * open. Every number that comes from the file is checked.
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
	uint64_t bytes; /* of the function, 0 when the file does not say */
};

/* 0, or negative: not an ELF file of this machine (-ENOEXEC), damaged, no memory. `fd` may be closed. */
int scribe_elf_open(int fd, const char *label, struct scribe_elf **ret_elf, struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_elf *scribe_elf_free(struct scribe_elf *elf);

/* A defined function or object by its name without version; the default version where there are several. */
bool scribe_elf_find(const struct scribe_elf *elf, const char *name, struct scribe_elf_symbol *ret_symbol);
/* File offset of an address in an executable segment; false when there is none. */
bool scribe_elf_offset(const struct scribe_elf *elf, uint64_t vaddr, uint64_t *ret_offset);
/* The same of a variable that stands in the file. */
bool scribe_elf_data_offset(const struct scribe_elf *elf, uint64_t vaddr, uint64_t *ret_offset);
/* The i-th executable piece of the file; false: there are no more. */
bool scribe_elf_code_piece(const struct scribe_elf *elf, uint32_t i, uint64_t *ret_offset, uint64_t *ret_bytes);
/* What to add to an offset in the file's code for its address; false: it has no code. */
bool scribe_elf_code_bias(const struct scribe_elf *elf, uint64_t *ret_bias);
/* Bytes at an address of any loaded segment, *ret_n of them up to its end in the file; NULL: none. */
const unsigned char *scribe_elf_code(const struct scribe_elf *elf, uint64_t vaddr, size_t *ret_n);
/* Calls fn for each DT_NEEDED name; rpath: DT_RPATH or DT_RUNPATH text, "" none; interpreter likewise. */
void scribe_elf_needed(const struct scribe_elf *elf, void (*fn)(void *ctx, const char *name), void *ctx);
/* Is it executed, not loaded by others? */
bool scribe_elf_is_program(const struct scribe_elf *elf);
/* Does it take of other files what starts programs or loads libraries: exec, dlopen and their kin? */
bool scribe_elf_launches(const struct scribe_elf *elf);
const char *scribe_elf_rpath(const struct scribe_elf *elf);

#endif
