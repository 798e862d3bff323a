/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of this installation or build tree. */
#ifndef UTIL_LINK_INSTALLED_H
#define UTIL_LINK_INSTALLED_H

#include <stddef.h>

/* Relative to this program's directory. 0 or -ENOENT. */
int scribe_installed_find(const char *const *places, char *ret_path, size_t cap);
int scribe_installed_daemon(char *ret_path, size_t cap);

#endif
