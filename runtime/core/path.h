/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths as text. */
#ifndef RUNTIME_CORE_PATH_H
#define RUNTIME_CORE_PATH_H

#include <stddef.h>

/*
 * "//", "/./" and "/../" removed from an absolute path without looking at the
 * file system; in place. Returns the new length, at least 1.
 */
size_t scribe_path_clean(char *path);

#endif
