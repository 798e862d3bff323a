/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of system calls that the programs look at. */
#ifndef BPF_USER_SYSCALL_TABLE_H
#define BPF_USER_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Set classes[number] for every system call of this architecture that counts. */
void scribe_syscalls_fill(unsigned char *classes, unsigned n);
/*
 * Name of the kernel's function of the i-th of them, then of some calls in the 32-bit
 * form, which a kernel may lack; NULL behind the last, and where they are not known.
 */
const char *scribe_syscalls_function(unsigned i, char *room, size_t cap, bool *ret_may_lack);

#endif
