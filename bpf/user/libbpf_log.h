/* SPDX-License-Identifier: BSD-3-Clause */
/* What the BPF library and the kernel's verifier have said, the end of it. */
#ifndef BPF_USER_LIBBPF_LOG_H
#define BPF_USER_LIBBPF_LOG_H

#include <stdbool.h>

/*
 * Keep what libbpf warns of from now on; what it said before is forgotten. Where a
 * program is refused it loads it once more and prints the verifier's log: nothing is
 * asked for, or paid, before. `verbose`: everything goes to stderr, too.
 */
void scribe_said_begin(bool verbose);
/* The last 16 KiB of it; borrowed, until the next scribe_said_begin. */
const char *scribe_said(void);

#endif
