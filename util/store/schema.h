/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_SCHEMA_H
#define UTIL_STORE_SCHEMA_H

#include <stdbool.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

/* read_only: only checks. -SCRIBE_E_VERSION: newer, or older and read_only. */
int scribe_store_schema(const struct scribe_sql_kind_ops *ops, void *db, const char *place, bool read_only,
			struct scribe_err *err);
/* Statements for views of one user's jobs alone. The caller frees; NULL: out of memory. */
char *scribe_store_schema_of_user(const struct scribe_sql_kind_ops *ops, int64_t uid);

#endif
