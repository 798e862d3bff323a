/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of system calls that the programs look at. */
#ifndef BPF_USER_SYSCALL_TABLE_H
#define BPF_USER_SYSCALL_TABLE_H

/* Set classes[number] for every system call of this architecture that counts. */
void scribe_syscalls_fill(unsigned char *classes, unsigned n);

#endif
