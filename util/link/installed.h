/* SPDX-License-Identifier: BSD-3-Clause */
/* Other files of this installation, or of the build tree that this program runs from. */
#ifndef UTIL_LINK_INSTALLED_H
#define UTIL_LINK_INSTALLED_H

#include <stddef.h>

/* The first readable path of `places` (relative to this program's directory, ends with NULL). 0 or -ENOENT. */
int scribe_installed_find(const char *const *places, char *ret_path, size_t cap);
/* The path of ioscribed. 0 or -ENOENT. */
int scribe_installed_daemon(char *ret_path, size_t cap);

#endif
