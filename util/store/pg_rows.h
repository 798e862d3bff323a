/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of `event`. */
#ifndef UTIL_STORE_PG_ROWS_H
#define UTIL_STORE_PG_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

int scribe_pg_put(void *db, const struct scribe_store_row *rows, size_t n, bool *ret_fresh, struct scribe_err *err);
int scribe_pg_forget(void *db, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err);

#endif
