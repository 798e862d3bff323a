/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges, as far as visible without trying. */
#ifndef UTIL_LINK_PRIVILEGES_H
#define UTIL_LINK_PRIVILEGES_H

#include <stdbool.h>

/* Numbers of linux/capability.h. */
#define SCRIBE_CAP_BPF     39
#define SCRIBE_CAP_PERFMON 38
#define SCRIBE_CAP_ADMIN   21

/* Effective set. */
bool scribe_has_cap(unsigned number);
/* In the initial user namespace. The kernel may refuse anyway. */
bool scribe_may_trace(void);
/* Tracing is not possible there. */
bool scribe_in_user_ns(void);

#endif
