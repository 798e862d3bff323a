/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_SQL_SHOWN_H
#define UTIL_STORE_SQL_SHOWN_H

/* Removes the password. The caller frees. NULL: out of memory. */
char *scribe_sql_shown(const char *place);

#endif
