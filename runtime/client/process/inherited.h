/* SPDX-License-Identifier: BSD-3-Clause */
/* errno may change. */
#ifndef RUNTIME_CLIENT_PROCESS_INHERITED_H
#define RUNTIME_CLIENT_PROCESS_INHERITED_H

#include <stdbool.h>

/* A seccomp filter, which may kill a process for a call that its program does not make. */
bool scribe_inherited_filter(void);

#endif
