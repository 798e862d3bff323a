/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields: logfmt/rules/lib_rules.h. */
#ifndef LOGFMT_RECORDS_LIB_FINISH_H
#define LOGFMT_RECORDS_LIB_FINISH_H

#include "logfmt/records/posix_finish.h"

#ifdef __cplusplus
extern "C" {
#endif

union scribe_lib_record {
	struct scribe_base_record base;
	struct scribe_stdio_record stdio;
	struct scribe_mpiio_record mpiio;
	struct scribe_h5f_record h5f;
	struct scribe_h5d_record h5d;
	struct scribe_pnetcdf_file_record nc_file;
	struct scribe_pnetcdf_var_record nc_var;
	struct scribe_cufile_record cufile;
};

struct scribe_access_pattern;
/* The pattern of a key (logfmt/rules/lib_rules.h); false: unknown. */
typedef bool (*scribe_access_pattern_fn)(void *ctx, int64_t key, struct scribe_access_pattern *ret_shape);

/*
 * Returns the record's length; 0: a module without such records. Times as in scribe_posix_acc_record. `mode`:
 * MPI-IO's access mode. Accesses with a pattern unknown to `pattern` get -1 in all its counters.
 */
size_t scribe_lib_record_make(int module, const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
			      uint64_t base_mono_ns, int64_t mode, scribe_access_pattern_fn pattern, void *ctx,
			      union scribe_lib_record *ret_rec);

#ifdef __cplusplus
}
#endif

#endif
