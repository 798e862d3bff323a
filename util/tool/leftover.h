/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are being written and must go when the program is ended by a
 * signal (interrupt, hang-up, termination, limit of processor time).
 */
#ifndef UTIL_TOOL_LEFTOVER_H
#define UTIL_TOOL_LEFTOVER_H

/* `path` is unfinished from now on; it stays the caller's, and must live until it is forgotten. */
void scribe_leftover_add(const char *path);

/* It is finished or gone. NULL and what was never added are allowed. */
void scribe_leftover_forget(const char *path);

#endif
