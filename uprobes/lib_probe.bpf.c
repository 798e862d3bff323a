// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
/* The library programs for kernels without bpf_rdonly_cast (before Linux 6.2). */
#define SCRIBE_PROBE_READ
#include "uprobes/lib.bpf.c"
