/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of counters. As in Darshan, the last entry names the count, and the arrays are not const. */
#include "util/compat/darshan-logutils.h"

#define X(n, rule, text) "POSIX_" #n,
char *posix_counter_names[] = {SCRIBE_POSIX_COUNTERS(X) "POSIX_NUM_INDICES"};
#undef X
#define X(n, rule, text) "POSIX_F_" #n,
char *posix_f_counter_names[] = {SCRIBE_POSIX_F_COUNTERS(X) "POSIX_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "MPIIO_" #n,
char *mpiio_counter_names[] = {SCRIBE_MPIIO_COUNTERS(X) "MPIIO_NUM_INDICES"};
#undef X
#define X(n, rule, text) "MPIIO_F_" #n,
char *mpiio_f_counter_names[] = {SCRIBE_MPIIO_F_COUNTERS(X) "MPIIO_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "STDIO_" #n,
char *stdio_counter_names[] = {SCRIBE_STDIO_COUNTERS(X) "STDIO_NUM_INDICES"};
#undef X
#define X(n, rule, text) "STDIO_F_" #n,
char *stdio_f_counter_names[] = {SCRIBE_STDIO_F_COUNTERS(X) "STDIO_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "H5F_" #n,
char *h5f_counter_names[] = {SCRIBE_H5F_COUNTERS(X) "H5F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "H5F_F_" #n,
char *h5f_f_counter_names[] = {SCRIBE_H5F_F_COUNTERS(X) "H5F_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "H5D_" #n,
char *h5d_counter_names[] = {SCRIBE_H5D_COUNTERS(X) "H5D_NUM_INDICES"};
#undef X
#define X(n, rule, text) "H5D_F_" #n,
char *h5d_f_counter_names[] = {SCRIBE_H5D_F_COUNTERS(X) "H5D_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "PNETCDF_FILE_" #n,
char *pnetcdf_file_counter_names[] = {SCRIBE_PNETCDF_FILE_COUNTERS(X) "PNETCDF_FILE_NUM_INDICES"};
#undef X
#define X(n, rule, text) "PNETCDF_FILE_F_" #n,
char *pnetcdf_file_f_counter_names[] = {SCRIBE_PNETCDF_FILE_F_COUNTERS(X) "PNETCDF_FILE_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "PNETCDF_VAR_" #n,
char *pnetcdf_var_counter_names[] = {SCRIBE_PNETCDF_VAR_COUNTERS(X) "PNETCDF_VAR_NUM_INDICES"};
#undef X
#define X(n, rule, text) "PNETCDF_VAR_F_" #n,
char *pnetcdf_var_f_counter_names[] = {SCRIBE_PNETCDF_VAR_F_COUNTERS(X) "PNETCDF_VAR_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "BGQ_" #n,
char *bgq_counter_names[] = {SCRIBE_BGQ_COUNTERS(X) "BGQ_NUM_INDICES"};
#undef X
#define X(n, rule, text) "BGQ_F_" #n,
char *bgq_f_counter_names[] = {SCRIBE_BGQ_F_COUNTERS(X) "BGQ_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "MDHIM_" #n,
char *mdhim_counter_names[] = {SCRIBE_MDHIM_COUNTERS(X) "MDHIM_NUM_INDICES"};
#undef X
#define X(n, rule, text) "MDHIM_F_" #n,
char *mdhim_f_counter_names[] = {SCRIBE_MDHIM_F_COUNTERS(X) "MDHIM_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "NULL_" #n,
char *null_counter_names[] = {SCRIBE_NULL_COUNTERS(X) "NULL_NUM_INDICES"};
#undef X
#define X(n, rule, text) "NULL_F_" #n,
char *null_f_counter_names[] = {SCRIBE_NULL_F_COUNTERS(X) "NULL_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "DFS_" #n,
char *dfs_counter_names[] = {SCRIBE_DFS_COUNTERS(X) "DFS_NUM_INDICES"};
#undef X
#define X(n, rule, text) "DFS_F_" #n,
char *dfs_f_counter_names[] = {SCRIBE_DFS_F_COUNTERS(X) "DFS_F_NUM_INDICES"};
#undef X
#define X(n, rule, text) "DAOS_" #n,
char *daos_counter_names[] = {SCRIBE_DAOS_COUNTERS(X) "DAOS_NUM_INDICES"};
#undef X
#define X(n, rule, text) "DAOS_F_" #n,
char *daos_f_counter_names[] = {SCRIBE_DAOS_F_COUNTERS(X) "DAOS_F_NUM_INDICES"};
#undef X

char *lustre_comp_counter_names[] = {
	"LUSTRE_COMP_STRIPE_SIZE", "LUSTRE_COMP_STRIPE_COUNT", "LUSTRE_COMP_STRIPE_PATTERN", "LUSTRE_COMP_FLAGS",
	"LUSTRE_COMP_EXT_START",   "LUSTRE_COMP_EXT_END",      "LUSTRE_COMP_MIRROR_ID",      "LUSTRE_COMP_NUM_INDICES",
};

#define Y(n)        #n,
#define X(op, kind) SCRIBE_APMPI_##kind(Y, op)
char *apmpi_counter_names[] = {SCRIBE_APMPI_OPS(X) "APMPI_NUM_INDICES"};
#undef X
#undef Y
#define X(op, kind) #op "_TOTAL_TIME", #op "_MIN_TIME", #op "_MAX_TIME",
char *apmpi_f_mpiop_totaltime_counter_names[] = {SCRIBE_APMPI_OPS(X) "APMPI_F_MPIOP_TOTALTIME_NUM_INDICES"};
#undef X
#define X(op, kind) #op "_TOTAL_SYNC_TIME",
char *apmpi_f_mpiop_synctime_counter_names[] = {SCRIBE_APMPI_SYNC_OPS(X) "APMPI_F_MPIOP_SYNCTIME_NUM_INDICES"};
#undef X
char *apmpi_f_mpi_global_counter_names[] = {"MPI_TOTAL_COMM_TIME", "MPI_TOTAL_COMM_SYNC_TIME",
					    "APMPI_F_MPI_GLOBAL_NUM_INDICES"};
