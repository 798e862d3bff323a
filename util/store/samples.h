/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of table `sample`. */
#ifndef UTIL_STORE_SAMPLES_H
#define UTIL_STORE_SAMPLES_H

#include "util/store/names.h"
#include "util/store/sample.h"
#include "util/store/sql.h"

/* Within a transaction: adds new values; *ret_new: their number. */
int scribe_samples_put(const struct scribe_sql_kind_ops *ops, void *db, struct scribe_store_names *names,
		       const struct scribe_sample *sample, uint64_t *ret_new, struct scribe_err *err);

/* Deletes values before this time (us since 1970) in several transactions. */
int scribe_samples_forget(const struct scribe_sql_kind_ops *ops, void *db, int64_t before_us,
			  uint64_t *ret_values, struct scribe_err *err);

#endif
