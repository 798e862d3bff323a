/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The LAYERS module: what one file's data is at the level of HDF5 and PnetCDF,
 * of MPI-IO and of system calls. Made from the records of the other modules.
 */
#ifndef LOGFMT_RECORDS_LAYERS_H
#define LOGFMT_RECORDS_LAYERS_H

#include "logfmt/records/posix_finish.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Add what a file, dataset or variable of `module` has to the record of its
 * file: bytes, and what was moved beneath its calls. Other modules add nothing.
 */
void scribe_layers_add(struct scribe_layers_record *r, int module, const struct scribe_posix_acc *acc);
/* The ratios of a record from its sums; where there is nothing to compare with, -1. */
void scribe_layers_ratios(const int64_t *counters, double *fcounters);
/* The module's own reduction (scribe_own_join): the ratios of both records' sums. */
void scribe_layers_join(void *rec, const void *other);

#ifdef __cplusplus
}
#endif

#endif
