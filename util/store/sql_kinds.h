/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of databases, chosen by a store's place. */
#ifndef UTIL_STORE_SQL_KINDS_H
#define UTIL_STORE_SQL_KINDS_H

#include "logfmt/base/err.h"
#include "util/store/sql.h"

/*
 * postgresql://...: PostgreSQL, by the module beside the program, which is loaded only then;
 * a file's name: SQLite. 0 or a negative code with a message.
 */
int scribe_sql_kind(const char *place, const struct scribe_sql_kind_ops **ret_ops, struct scribe_err *err);

#endif
