/* SPDX-License-Identifier: BSD-3-Clause */
/* A database's place as messages and pages may show it. */
#ifndef UTIL_STORE_SQL_SHOWN_H
#define UTIL_STORE_SQL_SHOWN_H

/* Without a password. The caller's; NULL: no memory. */
char *scribe_sql_shown(const char *place);

#endif
