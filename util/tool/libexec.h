/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands in separate programs. */
#ifndef UTIL_TOOL_LIBEXEC_H
#define UTIL_TOOL_LIBEXEC_H

/* Returns only on failure, with errno. Async-signal-safe. */
void scribe_libexec_exec(const char *program, char **argv);
/* Returns only on failure, with the exit status, after a message; `does`: its purpose. */
int scribe_libexec_run(const char *program, const char *does, char **argv);

#endif
