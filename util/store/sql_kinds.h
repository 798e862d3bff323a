/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of databases. */
#ifndef UTIL_STORE_SQL_KINDS_H
#define UTIL_STORE_SQL_KINDS_H

#include "logfmt/base/err.h"
#include "util/store/sql.h"

/* postgresql://...: a module loaded on demand; a file name: SQLite. */
int scribe_sql_kind(const char *place, const struct scribe_sql_kind_ops **ret_ops, struct scribe_err *err);

#endif
