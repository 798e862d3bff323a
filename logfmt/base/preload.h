/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LD_PRELOAD may hold of our libraries for a program that is about to be executed: its
 * loader complains on the program's standard error of each that it cannot load.
 */
#ifndef LOGFMT_BASE_PRELOAD_H
#define LOGFMT_BASE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Can the program at `path` not load ours: is it, or the interpreter of its script, of another
 * word size or machine, or is one of ours not to be found from here? `search`: a name without a
 * slash is looked for in PATH. Then the pointers of room that scribe_preload_without needs, at
 * least 2; else 1, also where none of ours is in `env` or where it cannot be known. No memory is
 * taken, errno may change; usable between vfork and exec. What it opens does not count as the
 * program's (SCRIBE_OPEN_OWN).
 */
size_t scribe_preload_room(const char *path, bool search, char *const env[]);

/* `env` itself if `pointers` is 1; else a copy of it in `room`, whose LD_PRELOAD is without ours. */
char *const *scribe_preload_without(char *const env[], char **room, size_t pointers);

#endif
