/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_SAMPLES_H
#define UTIL_STORE_SAMPLES_H

#include "util/store/names.h"
#include "util/store/sample.h"
#include "util/store/sql.h"

/* *ret_new: number of new values. */
int scribe_samples_put(const struct scribe_sql_kind_ops *ops, void *db, struct scribe_store_names *names,
		       const struct scribe_sample *sample, uint64_t *ret_new, struct scribe_err *err);

/* In several transactions. */
int scribe_samples_forget(const struct scribe_sql_kind_ops *ops, void *db, int64_t before_us, uint64_t *ret_values,
			  struct scribe_err *err);

#endif
