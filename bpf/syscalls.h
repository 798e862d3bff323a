/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of system calls that the programs look at. */
#ifndef BPF_SYSCALLS_H
#define BPF_SYSCALLS_H

/* Set acts[number] for every system call of this architecture that counts. */
void scribe_syscalls_fill(unsigned char *acts, unsigned n);

#endif
