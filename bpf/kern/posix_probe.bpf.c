// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/* The same programs with probe reads: for kernels before 6.2, and to test that path. */
#define SCRIBE_PROBE_READ
#include "bpf/kern/posix.bpf.c"
