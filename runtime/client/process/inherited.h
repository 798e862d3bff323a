/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process was begun with that forbids it things. errno may change. */
#ifndef RUNTIME_CLIENT_PROCESS_INHERITED_H
#define RUNTIME_CLIENT_PROCESS_INHERITED_H

#include <stdbool.h>

/* A seccomp filter from outside, which may kill whoever makes a call that the program itself does not make. */
bool scribe_inherited_filter(void);

#endif
