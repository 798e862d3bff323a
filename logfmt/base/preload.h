/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_BASE_PRELOAD_H
#define LOGFMT_BASE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Pointers that scribe_preload_without needs (at least 2), if the program at `path` (`search`: in PATH) or its
 * interpreter has another word size or machine, or a library cannot be opened; otherwise 1.
 */
size_t scribe_preload_room(const char *path, bool search, char *const env[]);

/* `pointers` 1: `env`; otherwise a copy in `buffer`. */
char *const *scribe_preload_without(char *const env[], char **buffer, size_t pointers);

#endif
