/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_LAYERS_H
#define LOGFMT_RECORDS_LAYERS_H

#include "logfmt/records/posix_finish.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Other modules: nothing. */
void scribe_layers_add(struct scribe_layers_record *r, int module, const struct scribe_posix_acc *acc);
/* From sums; -1: nothing to compare with. */
void scribe_layers_ratios(const int64_t *counters, double *fcounters);
/* scribe_own_join: the ratios of both records' sums. */
void scribe_layers_join(void *rec, const void *other);

#ifdef __cplusplus
}
#endif

#endif
