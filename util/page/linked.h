/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PAGE_LINKED_H
#define UTIL_PAGE_LINKED_H

/*
 * LINKED_FILE(name, path): the file's bytes from name up to name_end, and a NUL. The assembler puts them into the
 * program, so that the file is not needed at run time.
 */
#define LINKED_FILE(name, path) \
	__asm__(".section .rodata\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n.global " #name "_end\n" #name \
		"_end:\n.byte 0\n.previous\n"); \
	extern const char name[], name##_end[]

#endif
