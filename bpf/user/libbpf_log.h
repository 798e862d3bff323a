/* SPDX-License-Identifier: BSD-3-Clause */
/* The last output of libbpf and the verifier. */
#ifndef BPF_USER_LIBBPF_LOG_H
#define BPF_USER_LIBBPF_LOG_H

#include <stdbool.h>

/*
 * Starts collecting warnings. libbpf loads a refused program again to print the verifier's log: a success costs
 * nothing. `verbose`: everything goes to stderr, too.
 */
void scribe_said_begin(bool verbose);
/* At most 16 KiB; borrowed until the next scribe_said_begin. */
const char *scribe_said(void);

#endif
