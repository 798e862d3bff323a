/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs start ranks, and what their command lines tell. */
#ifndef RUNTIME_DAEMON_MODEL_LAUNCHERS_H
#define RUNTIME_DAEMON_MODEL_LAUNCHERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

const char *scribe_base_name(const char *path);

bool scribe_is_launcher(const char *program);

/* A launcher of ranks without MPI: its name, in `text`; NULL: it is none. argv: NUL-terminated strings, the last one
 * may be cut. */
const char *scribe_framework_launcher(const char *argv, size_t bytes, char text[PATH_MAX]);

/* Its processes are not descendants, so they are not traced. */
bool scribe_starts_elsewhere(const char *program, bool below_launcher);

/* Of Hydra's proxies: those of one world share control port and group; MPI_Comm_spawn makes a new group. */
bool scribe_hydra_key(const char *args, char *ret_key, size_t cap);

#endif
