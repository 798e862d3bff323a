/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process may do, as far as it can be told without trying. */
#ifndef UTIL_LINK_PRIVILEGES_H
#define UTIL_LINK_PRIVILEGES_H

#include <stdbool.h>

/* Capabilities by number, as the kernel's headers have them. */
#define SCRIBE_CAP_BPF     39
#define SCRIBE_CAP_PERFMON 38
#define SCRIBE_CAP_ADMIN   21

/* Is the capability effective? */
bool scribe_has_cap(unsigned number);
/* Root, or CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN has both), of the machine: it is worth trying. */
bool scribe_may_trace(void);
/* In another user namespace than the machine's first one? Nothing there may trace. */
bool scribe_in_user_ns(void);

#endif
