/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the address to probe in a function. The kernel emulates push, nop, jmp, call and jcc; others are
 * single-stepped at 2 to 40 times the cost. So: the first instruction if emulated, else a later one that each
 * call passes once with unmoved stack and arguments in registers, else in the function that receives all
 * arguments.
 */
#ifndef UPROBES_ELF_INSN_H
#define UPROBES_ELF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/wire.h"

struct scribe_insn_address {
	uint64_t vaddr;
	uint8_t reg[SCRIBE_POINT_ARGS]; /* register of argument i; SCRIBE_REG_NONE: lost */
	bool emulated;
	bool other; /* in a function called with the same arguments */
};

/* As scribe_elf_code. */
typedef const unsigned char *(*scribe_insn_code)(const void *ctx, uint64_t vaddr, size_t *ret_n);

/*
 * Bit i of the mask: argument i is needed. Falls back to the entry with emulated = false. Return probes work
 * there, too: the return address is on top of the stack.
 */
void scribe_insn_choose(scribe_insn_code code, const void *ctx, uint64_t vaddr, unsigned wanted,
			struct scribe_insn_address *ret_address);

void scribe_insn_entry(uint64_t vaddr, struct scribe_insn_address *ret_address);

/* -1 in `pattern` matches any byte. Offset of the first match, or -1. */
long scribe_insn_match(const unsigned char *code, size_t n, const int16_t *pattern, size_t length);

#endif
