/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges of this process, as far as visible without trying. */
#ifndef UTIL_LINK_PRIVILEGES_H
#define UTIL_LINK_PRIVILEGES_H

#include <stdbool.h>

/* Numbers of linux/capability.h. */
#define SCRIBE_CAP_BPF     39
#define SCRIBE_CAP_PERFMON 38
#define SCRIBE_CAP_ADMIN   21

/* Effective set. */
bool scribe_has_cap(unsigned number);
/* Root or the capabilities, in the initial user namespace. The kernel may refuse anyway. */
bool scribe_may_trace(void);
/* True outside of the initial user namespace, where tracing is not possible. */
bool scribe_in_user_ns(void);

#endif
