/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BPF_USER_SYSCALL_TABLE_H
#define BPF_USER_SYSCALL_TABLE_H

/* Sets classes[number]; other entries stay as they are. */
void scribe_syscalls_fill(unsigned char *classes, unsigned n);

#endif
