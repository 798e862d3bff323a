/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CORE_PATH_H
#define RUNTIME_CORE_PATH_H

#include <stddef.h>

/* In place, without the file system. Returns the new length, at least 1. */
size_t scribe_path_clean(char *path);

#endif
