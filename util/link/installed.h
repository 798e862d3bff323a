/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the other files of this installation are, or of the build tree that this program is run from. */
#ifndef UTIL_LINK_INSTALLED_H
#define UTIL_LINK_INSTALLED_H

#include <stddef.h>

/*
 * The first of these paths, relative to this program's folder, that can be read: absolute, in
 * ret_path. `places` ends with NULL. 0, or -ENOENT.
 */
int scribe_installed_find(const char *const *places, char *ret_path, size_t cap);
/* ioscribed. 0, or -ENOENT. */
int scribe_installed_daemon(char *ret_path, size_t cap);

#endif
