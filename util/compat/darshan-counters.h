/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of Darshan's C interface (release 3.5.0): POSIX_OPENS and so on, from the
 * lists in logfmt/. Per module the list POSIX_COUNTERS, which expands the caller's X(counter) and ends with
 * POSIX_NUM_INDICES; then its enumeration.
 */
#ifndef IOSCRIBE_COMPAT_DARSHAN_COUNTERS_H
#define IOSCRIBE_COMPAT_DARSHAN_COUNTERS_H

#include "logfmt/counters/counters_apmpi.h"
#include "logfmt/counters/counters_daos.h"
#include "logfmt/counters/counters_hdf5.h"
#include "logfmt/counters/counters_mpiio.h"
#include "logfmt/counters/counters_pnetcdf.h"
#include "logfmt/counters/counters_posix.h"
#include "logfmt/counters/counters_site.h"
#include "logfmt/counters/counters_stdio.h"

#define DARSHAN_X_POSIX_I_(n, rule, text) X(POSIX_##n)
#define POSIX_COUNTERS SCRIBE_POSIX_COUNTERS(DARSHAN_X_POSIX_I_) X(POSIX_NUM_INDICES)
#define DARSHAN_X_POSIX_F_(n, rule, text) X(POSIX_F_##n)
#define POSIX_F_COUNTERS SCRIBE_POSIX_F_COUNTERS(DARSHAN_X_POSIX_F_) X(POSIX_F_NUM_INDICES)
#define DARSHAN_X_MPIIO_I_(n, rule, text) X(MPIIO_##n)
#define MPIIO_COUNTERS SCRIBE_MPIIO_COUNTERS(DARSHAN_X_MPIIO_I_) X(MPIIO_NUM_INDICES)
#define DARSHAN_X_MPIIO_F_(n, rule, text) X(MPIIO_F_##n)
#define MPIIO_F_COUNTERS SCRIBE_MPIIO_F_COUNTERS(DARSHAN_X_MPIIO_F_) X(MPIIO_F_NUM_INDICES)
#define DARSHAN_X_STDIO_I_(n, rule, text) X(STDIO_##n)
#define STDIO_COUNTERS SCRIBE_STDIO_COUNTERS(DARSHAN_X_STDIO_I_) X(STDIO_NUM_INDICES)
#define DARSHAN_X_STDIO_F_(n, rule, text) X(STDIO_F_##n)
#define STDIO_F_COUNTERS SCRIBE_STDIO_F_COUNTERS(DARSHAN_X_STDIO_F_) X(STDIO_F_NUM_INDICES)
#define DARSHAN_X_H5F_I_(n, rule, text) X(H5F_##n)
#define H5F_COUNTERS SCRIBE_H5F_COUNTERS(DARSHAN_X_H5F_I_) X(H5F_NUM_INDICES)
#define DARSHAN_X_H5F_F_(n, rule, text) X(H5F_F_##n)
#define H5F_F_COUNTERS SCRIBE_H5F_F_COUNTERS(DARSHAN_X_H5F_F_) X(H5F_F_NUM_INDICES)
#define DARSHAN_X_H5D_I_(n, rule, text) X(H5D_##n)
#define H5D_COUNTERS SCRIBE_H5D_COUNTERS(DARSHAN_X_H5D_I_) X(H5D_NUM_INDICES)
#define DARSHAN_X_H5D_F_(n, rule, text) X(H5D_F_##n)
#define H5D_F_COUNTERS SCRIBE_H5D_F_COUNTERS(DARSHAN_X_H5D_F_) X(H5D_F_NUM_INDICES)
#define DARSHAN_X_PNETCDF_FILE_I_(n, rule, text) X(PNETCDF_FILE_##n)
#define PNETCDF_FILE_COUNTERS SCRIBE_PNETCDF_FILE_COUNTERS(DARSHAN_X_PNETCDF_FILE_I_) X(PNETCDF_FILE_NUM_INDICES)
#define DARSHAN_X_PNETCDF_FILE_F_(n, rule, text) X(PNETCDF_FILE_F_##n)
#define PNETCDF_FILE_F_COUNTERS                                                                              \
	SCRIBE_PNETCDF_FILE_F_COUNTERS(DARSHAN_X_PNETCDF_FILE_F_) X(PNETCDF_FILE_F_NUM_INDICES)
#define DARSHAN_X_PNETCDF_VAR_I_(n, rule, text) X(PNETCDF_VAR_##n)
#define PNETCDF_VAR_COUNTERS SCRIBE_PNETCDF_VAR_COUNTERS(DARSHAN_X_PNETCDF_VAR_I_) X(PNETCDF_VAR_NUM_INDICES)
#define DARSHAN_X_PNETCDF_VAR_F_(n, rule, text) X(PNETCDF_VAR_F_##n)
#define PNETCDF_VAR_F_COUNTERS SCRIBE_PNETCDF_VAR_F_COUNTERS(DARSHAN_X_PNETCDF_VAR_F_) X(PNETCDF_VAR_F_NUM_INDICES)
#define DARSHAN_X_BGQ_I_(n, rule, text) X(BGQ_##n)
#define BGQ_COUNTERS SCRIBE_BGQ_COUNTERS(DARSHAN_X_BGQ_I_) X(BGQ_NUM_INDICES)
#define DARSHAN_X_BGQ_F_(n, rule, text) X(BGQ_F_##n)
#define BGQ_F_COUNTERS SCRIBE_BGQ_F_COUNTERS(DARSHAN_X_BGQ_F_) X(BGQ_F_NUM_INDICES)
#define DARSHAN_X_MDHIM_I_(n, rule, text) X(MDHIM_##n)
#define MDHIM_COUNTERS SCRIBE_MDHIM_COUNTERS(DARSHAN_X_MDHIM_I_) X(MDHIM_NUM_INDICES)
#define DARSHAN_X_MDHIM_F_(n, rule, text) X(MDHIM_F_##n)
#define MDHIM_F_COUNTERS SCRIBE_MDHIM_F_COUNTERS(DARSHAN_X_MDHIM_F_) X(MDHIM_F_NUM_INDICES)
#define DARSHAN_X_NULL_I_(n, rule, text) X(NULL_##n)
#define NULL_COUNTERS SCRIBE_NULL_COUNTERS(DARSHAN_X_NULL_I_) X(NULL_NUM_INDICES)
#define DARSHAN_X_NULL_F_(n, rule, text) X(NULL_F_##n)
#define NULL_F_COUNTERS SCRIBE_NULL_F_COUNTERS(DARSHAN_X_NULL_F_) X(NULL_F_NUM_INDICES)
#define DARSHAN_X_DFS_I_(n, rule, text) X(DFS_##n)
#define DFS_COUNTERS SCRIBE_DFS_COUNTERS(DARSHAN_X_DFS_I_) X(DFS_NUM_INDICES)
#define DARSHAN_X_DFS_F_(n, rule, text) X(DFS_F_##n)
#define DFS_F_COUNTERS SCRIBE_DFS_F_COUNTERS(DARSHAN_X_DFS_F_) X(DFS_F_NUM_INDICES)
#define DARSHAN_X_DAOS_I_(n, rule, text) X(DAOS_##n)
#define DAOS_COUNTERS SCRIBE_DAOS_COUNTERS(DARSHAN_X_DAOS_I_) X(DAOS_NUM_INDICES)
#define DARSHAN_X_DAOS_F_(n, rule, text) X(DAOS_F_##n)
#define DAOS_F_COUNTERS SCRIBE_DAOS_F_COUNTERS(DARSHAN_X_DAOS_F_) X(DAOS_F_NUM_INDICES)
#define LUSTRE_COMP_COUNTERS \
	X(LUSTRE_COMP_STRIPE_SIZE) \
	X(LUSTRE_COMP_STRIPE_COUNT) \
	X(LUSTRE_COMP_STRIPE_PATTERN) \
	X(LUSTRE_COMP_FLAGS) \
	X(LUSTRE_COMP_EXT_START) \
	X(LUSTRE_COMP_EXT_END) \
	X(LUSTRE_COMP_MIRROR_ID) \
	X(LUSTRE_COMP_NUM_INDICES)

#define X(counter) counter,
enum darshan_posix_indices { POSIX_COUNTERS };
enum darshan_posix_f_indices { POSIX_F_COUNTERS };
enum darshan_mpiio_indices { MPIIO_COUNTERS };
enum darshan_mpiio_f_indices { MPIIO_F_COUNTERS };
enum darshan_stdio_indices { STDIO_COUNTERS };
enum darshan_stdio_f_indices { STDIO_F_COUNTERS };
enum darshan_h5f_indices { H5F_COUNTERS };
enum darshan_h5f_f_indices { H5F_F_COUNTERS };
enum darshan_h5d_indices { H5D_COUNTERS };
enum darshan_h5d_f_indices { H5D_F_COUNTERS };
enum darshan_pnetcdf_file_indices { PNETCDF_FILE_COUNTERS };
enum darshan_pnetcdf_file_f_indices { PNETCDF_FILE_F_COUNTERS };
enum darshan_pnetcdf_var_indices { PNETCDF_VAR_COUNTERS };
enum darshan_pnetcdf_var_f_indices { PNETCDF_VAR_F_COUNTERS };
enum darshan_bgq_indices { BGQ_COUNTERS };
enum darshan_bgq_f_indices { BGQ_F_COUNTERS };
enum darshan_mdhim_indices { MDHIM_COUNTERS };
enum darshan_mdhim_f_indices { MDHIM_F_COUNTERS };
enum darshan_null_indices { NULL_COUNTERS };
enum darshan_null_f_indices { NULL_F_COUNTERS };
enum darshan_dfs_indices { DFS_COUNTERS };
enum darshan_dfs_f_indices { DFS_F_COUNTERS };
enum darshan_daos_indices { DAOS_COUNTERS };
enum darshan_daos_f_indices { DAOS_F_COUNTERS };
enum darshan_lustre_indices { LUSTRE_COMP_COUNTERS };
#undef X

/* Darshan has these names only where it was built with the module: MPI_... is mpi.h's ground. */
#ifdef DARSHAN_USE_APMPI
#define APMPI_MAGIC SCRIBE_APMPI_MAGIC
#define AP_PROCESSOR_NAME_MAX 128
#define DARSHAN_NAME(name) name,
#define DARSHAN_INTEGERS(op, kind) SCRIBE_APMPI_##kind(DARSHAN_NAME, op)
enum apmpi_mpiop_indices { SCRIBE_APMPI_OPS(DARSHAN_INTEGERS) APMPI_NUM_INDICES };
#define DARSHAN_TIMES(op, kind) op##_TOTAL_TIME, op##_MIN_TIME, op##_MAX_TIME,
enum apmpi_f_mpiop_totaltime_indices { SCRIBE_APMPI_OPS(DARSHAN_TIMES) APMPI_F_MPIOP_TOTALTIME_NUM_INDICES };
#define DARSHAN_SYNC(op, kind) op##_TOTAL_SYNC_TIME,
enum apmpi_f_mpiop_synctime_indices { SCRIBE_APMPI_SYNC_OPS(DARSHAN_SYNC) APMPI_F_MPIOP_SYNCTIME_NUM_INDICES };
enum apmpi_f_mpi_global_indices {
	MPI_TOTAL_COMM_TIME,
	MPI_TOTAL_COMM_SYNC_TIME,
	APMPI_F_MPI_GLOBAL_NUM_INDICES
};
#undef DARSHAN_NAME
#undef DARSHAN_INTEGERS
#undef DARSHAN_TIMES
#undef DARSHAN_SYNC
#endif

#endif
