/* SPDX-License-Identifier: BSD-3-Clause */
/* Unfinished files. */
#ifndef UTIL_TOOL_LEFTOVER_H
#define UTIL_TOOL_LEFTOVER_H

void scribe_leftover_add(const char *path);

/* The file is finished or gone. Accepts NULL and unknown paths. */
void scribe_leftover_forget(const char *path);

#endif
