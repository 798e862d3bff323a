/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what the kernel kept of a library's file to a record of its module. The
 * shards are added up as POSIX's are (logfmt/records/posix_finish.h); which field is
 * which counter stands in logfmt/rules/lib_rules.h.
 */
#ifndef LOGFMT_RECORDS_LIB_FINISH_H
#define LOGFMT_RECORDS_LIB_FINISH_H

#include "logfmt/records/posix_finish.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A record of any module that lib_finish makes, so that one buffer fits all. */
union scribe_lib_record {
	struct scribe_base_record base;
	struct scribe_stdio_record stdio;
	struct scribe_mpiio_record mpiio;
	struct scribe_h5f_record h5f;
	struct scribe_h5d_record h5d;
	struct scribe_pnetcdf_file_record nc_file;
	struct scribe_pnetcdf_var_record nc_var;
};

struct scribe_access_pattern;
/* What belongs to the key of a shape (logfmt/rules/lib_rules.h); false: not known. */
typedef bool (*scribe_access_pattern_fn)(void *ctx, int64_t key, struct scribe_access_pattern *ret_shape);

/*
 * The record of `module` (SCRIBE_MOD_STDIO, SCRIBE_MOD_MPIIO, SCRIBE_MOD_H5F,
 * SCRIBE_MOD_H5D, SCRIBE_MOD_PNETCDF_FILE, SCRIBE_MOD_PNETCDF_VAR) and its length
 * in bytes, 0 for another module. Times as in scribe_posix_acc_record. `mode`:
 * MPI-IO's access mode. `pattern`: called with `ctx` for accesses of datasets and
 * variables; one that it does not know has -1 for all that it is.
 */
size_t scribe_lib_record_make(int module, const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
			      uint64_t base_mono_ns, int64_t mode, scribe_access_pattern_fn pattern, void *ctx,
			      union scribe_lib_record *ret_rec);

#ifdef __cplusplus
}
#endif

#endif
