/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing where to probe a function. The kernel emulates push, nop, jmp, call
 * and jcc; any other instruction is single-stepped, which costs 2 to 40 times
 * as much. So: the first instruction if it is emulated, else a later one that
 * every call passes once before the stack pointer has moved and while the arguments
 * are still in registers, else the function it hands everything to.
 */
#ifndef UPROBES_ELF_INSN_H
#define UPROBES_ELF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/wire.h"

struct scribe_insn_place {
	uint64_t vaddr;
	uint8_t reg[SCRIBE_SITE_ARGS]; /* where argument i of the function is; SCRIBE_REG_NONE: lost */
	bool emulated;                    /* the kernel emulates the instruction */
	bool other;                    /* in another function, which this one calls with the same arguments */
};

/* Code bytes at an address; as scribe_elf_code. */
typedef const unsigned char *(*scribe_insn_code)(const void *ctx, uint64_t vaddr, size_t *ret_n);

/*
 * The place for the function at `vaddr`; bit i of `wanted`: argument i is needed.
 * Without a cheap one, the entry (emulated = false). At the place found, a return
 * probe is right too: the return address is on top of the stack.
 */
void scribe_insn_choose(scribe_insn_code code, const void *ctx, uint64_t vaddr, unsigned wanted,
			struct scribe_insn_place *ret_place);

/* The function's first instruction, whatever it is. */
void scribe_insn_entry(uint64_t vaddr, struct scribe_insn_place *ret_place);

/*
 * Search `n` bytes of code for a byte pattern; -1 in `pattern` matches anything.
 * Offset of the first match, or -1.
 */
long scribe_insn_match(const unsigned char *code, size_t n, const int16_t *pattern, size_t length);

#endif
