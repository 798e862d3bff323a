// SPDX-License-Identifier: BSD-3-Clause
/* Darshan's descriptions of HDF5, PnetCDF, DAOS and APMPI, word for word as in darshan-parser 3.5.0. */
#include "util/text/describe_texts.h"

/* {0, 0, NULL} ends a table. */
const struct scribe_text_block scribe_describe_h5f[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of HDF5 counters:\n"
	 "#   H5F_OPENS: HDF5 file open/create operation counts.\n"
	 "#   H5F_FLUSHES: HDF5 file flush operation counts.\n"
	 "#   H5F_USE_MPIIO: flag indicating whether MPI-IO was used to access this file.\n"
	 "#   H5F_F_*_START_TIMESTAMP: timestamp of first HDF5 file open/close.\n"
	 "#   H5F_F_*_END_TIMESTAMP: timestamp of last HDF5 file open/close.\n"
	 "#   H5F_F_META_TIME: cumulative time spent in HDF5 metadata operations.\n"},
	{1, 1,
	 "\n# WARNING: H5F module log format version 1 does not support the following "
	 "counters:\n"
	 "# - H5F_F_CLOSE_START_TIMESTAMP\n"
	 "# - H5F_F_OPEN_END_TIMESTAMP\n"},
	{0, 2,
	 "\n# WARNING: H5F module log format version <=2 does not support the following "
	 "counters:\n"
	 "# \t- H5F_FLUSHES\n"
	 "# \t- H5F_USE_MPIIO\n"
	 "# \t- H5F_F_META_TIME\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_h5d[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of HDF5 counters:\n"
	 "#   H5D_OPENS: HDF5 dataset open/create operation counts.\n"
	 "#   H5D_READS: HDF5 dataset read operation counts.\n"
	 "#   H5D_WRITES: HDF5 dataset write operation counts.\n"
	 "#   H5D_FLUSHES: HDF5 dataset flush operation counts.\n"
	 "#   H5D_BYTES_*: total bytes read and written at HDF5 dataset layer.\n"
	 "#   H5D_RW_SWITCHES: number of times access alternated between read and write.\n"
	 "#   H5D_*_SELECTS: number of different access selections (regular/irregular "
	 "hyperslab or points).\n"
	 "#   H5D_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   H5D_SIZE_*_AGG_*: histogram of H5D total access sizes for read and write "
	 "operations.\n"
	 "#   H5D_ACCESS*_*: the four most common total accesses, in terms of size and "
	 "length/stride (in last 5 dimensions).\n"
	 "#   H5D_ACCESS*_COUNT: count of the four most common total access sizes.\n"
	 "#   H5D_DATASPACE_NDIMS: number of dimensions in dataset's dataspace.\n"
	 "#   H5D_DATASPACE_NPOINTS: number of points in dataset's dataspace.\n"
	 "#   H5D_DATATYPE_SIZE: size of each dataset element.\n"
	 "#   H5D_CHUNK_SIZE_D*: chunk size in last 5 dimensions of dataset.\n"
	 "#   H5D_USE_MPIIO_COLLECTIVE: flag indicating whether MPI-IO collectives were used "
	 "to access this dataset.\n"
	 "#   H5D_USE_DEPRECATED: flag indicating whether deprecated H5D calls were used.\n"
	 "#   H5D_*_RANK: rank of the processes that were the fastest and slowest at I/O (for "
	 "shared datasets).\n"
	 "#   H5D_*_RANK_BYTES: total bytes transferred at H5D layer by the fastest and "
	 "slowest ranks (for shared datasets).\n"
	 "#   H5D_F_*_START_TIMESTAMP: timestamp of first HDF5 dataset "
	 "open/read/write/close.\n"
	 "#   H5D_F_*_END_TIMESTAMP: timestamp of last HDF5 datset open/read/write/close.\n"
	 "#   H5D_F_READ/WRITE/META_TIME: cumulative time spent in H5D read, write, or "
	 "metadata operations.\n"
	 "#   H5D_F_MAX_*_TIME: duration of the slowest H5D read and write operations.\n"
	 "#   H5D_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "datasets).\n"
	 "#   H5D_F_VARIANCE_RANK_*: variance of total I/O time and bytes moved for all ranks "
	 "(for shared datasets).\n"
	 "#   H5D_FILE_REC_ID: Darshan file record ID of the file the dataset belongs to.\n"},
	{1, 1,
	 "\n# WARNING: H5D module log format version 1 does not support the following "
	 "counters:\n"
	 "# - H5D_FILE_REC_ID\n"},
	{0, 0, NULL},
};

/* Version 3 replaced all counters of versions 1 and 2 (logfmt/file/layout.c). */
const struct scribe_text_block scribe_describe_pnetcdf_file[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of PnetCDF counters:\n"
	 "#   PNETCDF_FILE_CREATES: PnetCDF file create operation counts.\n"
	 "#   PNETCDF_FILE_OPENS: PnetCDF file open operation counts.\n"
	 "#   PNETCDF_FILE_REDEFS: PnetCDF file re-define operation counts.\n"
	 "#   PNETCDF_FILE_INDEP_WAITS: PnetCDF independent file wait operation counts.\n"
	 "#   PNETCDF_FILE_COLL_WAITS: PnetCDF collective file wait operation counts.\n"
	 "#   PNETCDF_FILE_SYNCS: PnetCDF file sync operation counts.\n"
	 "#   PNETCDF_FILE_BYTES_READ: PnetCDF total bytes read for all file variables.\n"
	 "#   PNETCDF_FILE_BYTES_WRITTEN: PnetCDF total bytes written for all file "
	 "variables.\n"
	 "#   PNETCDF_FILE_WAIT_FAILURES: PnetCDF file wait operation failure counts.\n"
	 "#   PNETCDF_FILE_F_*_START_TIMESTAMP: timestamp of first PnetCDF file "
	 "open/close/wait operation.\n"
	 "#   PNETCDF_FILE_F_*_END_TIMESTAMP: timestamp of last PnetCDF file open/close/wait "
	 "operation.\n"
	 "#   PNETCDF_FILE_F_META_TIME: Cumulative time spent in file metadata operations.\n"
	 "#   PNETCDF_FILE_F_WAIT_TIME: Cumulative time spent in file wait operations.\n"},
	{1, 1,
	 "\n# WARNING: PnetCDF file module log format version 1 does not support the "
	 "following counters:\n"
	 "# - PNETCDF_FILE_F_CLOSE_START_TIMESTAMP\n"
	 "# - PNETCDF_FILE_F_OPEN_END_TIMESTAMP\n"},
	{0, 2,
	 "\n# WARNING: PnetCDF file module log format version <=2 does not support the "
	 "following counters:\n"
	 "# - PNETCDF_FILE_CREATES\n"
	 "# - PNETCDF_FILE_REDEFS\n"
	 "# - PNETCDF_FILE_INDEP_WAITS\n"
	 "# - PNETCDF_FILE_COLL_WAITS\n"
	 "# - PNETCDF_FILE_SYNCS\n"
	 "# - PNETCDF_FILE_BYTES_READ\n"
	 "# - PNETCDF_FILE_BYTES_WRITTEN\n"
	 "# - PNETCDF_FILE_WAIT_FAILURES\n"
	 "# - PNETCDF_FILE_F_WAIT_START_TIMESTAMP\n"
	 "# - PNETCDF_FILE_F_WAIT_END_TIMESTAMP\n"
	 "# - PNETCDF_FILE_F_META_TIME\n"
	 "# - PNETCDF_FILE_F_WAIT_TIME\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_pnetcdf_var[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of PnetCDF counters:\n"
	 "#   PNETCDF_VAR_OPENS: PnetCDF variable define/inquire operation counts.\n"
	 "#   PNETCDF_VAR_INDEP_READS: PnetCDF variable independent read operation counts.\n"
	 "#   PNETCDF_VAR_INDEP_WRITES: PnetCDF variable independent write operation counts.\n"
	 "#   PNETCDF_VAR_COLL_READS: PnetCDF variable collective read operation counts.\n"
	 "#   PNETCDF_VAR_COLL_WRITES: PnetCDF variable collective write operation counts.\n"
	 "#   PNETCDF_VAR_NB_READS: PnetCDF variable nonblocking read operation counts.\n"
	 "#   PNETCDF_VAR_NB_WRITES: PnetCDF variable nonblocking write operation counts.\n"
	 "#   PNETCDF_VAR_BYTES_*: total bytes read and written at PnetCDF variable layer.\n"
	 "#   PNETCDF_VAR_RW_SWITCHES: number of times access alternated between read and "
	 "write.\n"
	 "#   PNETCDF_VAR_PUT_VAR*: number of calls to ncmpi_put_var* APIs (var, var1, vara, "
	 "vars, varm, varn, vard).\n"
	 "#   PNETCDF_VAR_GET_VAR*: number of calls to ncmpi_get_var* APIs (var, var1, vara, "
	 "vars, varm, varn, vard).\n"
	 "#   PNETCDF_VAR_IPUT_VAR*: number of calls to ncmpi_iput_var* APIs (var, var1, vara,"
	 " vars, varm, varn).\n"
	 "#   PNETCDF_VAR_IGET_VAR*: number of calls to ncmpi_iget_var* APIs (var, var1, vara,"
	 " vars, varm, varn).\n"
	 "#   PNETCDF_VAR_BPUT_VAR*: number of calls to ncmpi_bput_var* APIs (var, var1, vara,"
	 " vars, varm, varn).\n"
	 "#   PNETCDF_VAR_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   PNETCDF_VAR_SIZE_*_AGG_*: histogram of PnetCDf total access sizes for read and "
	 "write operations.\n"
	 "#   PNETCDF_VAR_ACCESS*_*: the four most common total accesses, in terms of size "
	 "and length/stride (in last 5 dimensions).\n"
	 "#   PNETCDF_VAR_ACCESS*_COUNT: count of the four most common total access sizes.\n"
	 "#   PNETCDF_VAR_NDIMS: number of dimensions in the variable.\n"
	 "#   PNETCDF_VAR_NPOINTS: number of points in the variable.\n"
	 "#   PNETCDF_VAR_DATATYPE_SIZE: size of each variable element.\n"
	 "#   PNETCDF_VAR_*_RANK: rank of the processes that were the fastest and slowest at "
	 "I/O (for shared datasets).\n"
	 "#   PNETCDF_VAR_*_RANK_BYTES: total bytes transferred at PnetCDF layer by the "
	 "fastest and slowest ranks (for shared datasets).\n"
	 "#   PNETCDF_VAR_F_*_START_TIMESTAMP: timestamp of first PnetCDF variable "
	 "open/read/write/close.\n"
	 "#   PNETCDF_VAR_F_*_END_TIMESTAMP: timestamp of last PnetCDF variable "
	 "open/read/write/close.\n"
	 "#   PNETCDF_VAR_F_READ/WRITE/META_TIME: cumulative time spent in PnetCDF read, "
	 "write, or metadata operations.\n"
	 "#   PNETCDF_VAR_F_MAX_*_TIME: duration of the slowest PnetCDF read and write "
	 "operations.\n"
	 "#   PNETCDF_VAR_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for "
	 "shared datasets).\n"
	 "#   PNETCDF_VAR_F_VARIANCE_RANK_*: variance of total I/O time and bytes moved for "
	 "all ranks (for shared datasets).\n"
	 "#   PNETCDF_VAR_FILE_REC_ID: Darshan file record ID of the file the variable "
	 "belongs to.\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_dfs[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of DFS counters:\n"
	 "#   DFS_*: DFS operation counts.\n"
	 "#   OPENS,GLOBAL_OPENS,LOOKUPS,DUPS,READS,READXS,WRITES,WRITEXS,GET_SIZES,PUNCHES,"
	 "REMOVES,STATS are types of operations.\n"
	 "#   DFS_BYTES_*: total bytes read and written.\n"
	 "#   DFS_RW_SWITCHES: number of times access alternated between read and write.\n"
	 "#   DFS_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   DFS_SIZE_*_*: histogram of read and write access sizes.\n"
	 "#   DFS_ACCESS*_ACCESS: the four most common access sizes.\n"
	 "#   DFS_ACCESS*_COUNT: count of the four most common access sizes.\n"
	 "#   DFS_CHUNK_SIZE: DFS file chunk size.\n"
	 "#   DFS_*_RANK: rank of the processes that were the fastest and slowest at I/O (for "
	 "shared files).\n"
	 "#   DFS_*_RANK_BYTES: bytes transferred by the fastest and slowest ranks (for "
	 "shared files).\n"
	 "#   DFS_F_*_START_TIMESTAMP: timestamp of first open/read/write/close.\n"
	 "#   DFS_F_*_END_TIMESTAMP: timestamp of last open/read/write/close.\n"
	 "#   DFS_F_READ/WRITE/META_TIME: cumulative time spent in read, write, or metadata "
	 "operations.\n"
	 "#   DFS_F_MAX_*_TIME: duration of the slowest read and write operations.\n"
	 "#   DFS_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "files).\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_daos[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of DAOS counters:\n"
	 "#   DAOS_*: DAOS operation counts.\n"
	 "#   OBJ_OPENS,OBJ_FETCHES,OBJ_UPDATES,OBJ_PUNCHES,OBJ_DKEY_PUNCHES,OBJ_AKEY_PUNCHES,"
	 "OBJ_DKEY_LISTS,OBJ_AKEY_LISTS,OBJ_RECX_LISTS are types of DAOS object operations.\n"
	 "#   ARRAY_OPENS,ARRAY_READS,ARRAY_WRITES,ARRAY_GET_SIZES,ARRAY_SET_SIZES,"
	 "ARRAY_STATS,ARRAY_PUNCHES,ARRAY_DESTROYS are types of DAOS array operations\n"
	 "#   KV_OPENS,KV_GETS,KV_PUTS,KV_REMOVES,KV_LISTS,KV_DESTROYS are types of DAOS kv "
	 "operations\n"
	 "#   DAOS_BYTES_*: total bytes read and written using all DAOS object APIs.\n"
	 "#   DAOS_RW_SWITCHES: number of times access alternated between read and write.\n"
	 "#   DAOS_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   DAOS_SIZE_*_*: histogram of read and write access sizes.\n"
	 "#   DAOS_ACCESS*_ACCESS: the four most common access sizes.\n"
	 "#   DAOS_ACCESS*_COUNT: count of the four most common access sizes.\n"
	 "#   DAOS_OBJ_OTYPE: DAOS otype value for the object.\n"
	 "#   DAOS_ARRAY_CELL_SIZE: the cell size for DAOS array objects\n"
	 "#   DAOS_ARRAY_CHUNK_SIZE: the chunk size for DAOS array objects\n"
	 "#   DAOS_*_RANK: rank of the processes that were the fastest and slowest at I/O "
	 "(for shared objects).\n"
	 "#   DAOS_*_RANK_BYTES: bytes transferred by the fastest and slowest ranks (for "
	 "shared objects).\n"
	 "#   DAOS_F_*_START_TIMESTAMP: timestamp of first open/read/write/close.\n"
	 "#   DAOS_F_*_END_TIMESTAMP: timestamp of last open/read/write/close.\n"
	 "#   DAOS_F_READ/WRITE/META_TIME: cumulative time spent in read, write, or metadata "
	 "operations.\n"
	 "#   DAOS_F_MAX_*_TIME: duration of the slowest read and write operations.\n"
	 "#   DAOS_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "objects).\n"},
	{0, 0, NULL},
};

/* APMPI is outside of Darshan's main tree. Head and records share a description. */
const struct scribe_text_block scribe_describe_apmpi[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of APMPI counters:\n"
	 "#   global summary stats showing the variance across all MPI processes:\n"
	 "#     MPI_TOTAL_COMM_TIME_VARIANCE: variance in total communication time across all the "
	 "processes.\n"
	 "#     MPI_TOTAL_COMM_SYNC_TIME_VARIANCE: variance in total sync time across all the "
	 "processes, if enabled.\n"
	 "#   per-process detailed stats on the usage of various MPI routines:\n"
	 "#     MPI_PROCESSOR_NAME: name of the processor used by the MPI process.\n"
	 "#     MPI_*_CALL_COUNT: total call count for an MPI op.\n"
	 "#     MPI_*_TOTAL_BYTES: total bytes (i.e., cumulative across all calls) moved with an MPI "
	 "op.\n"
	 "#     MPI_*_MSG_SIZE_AGG_*: histogram of total bytes moved for all the calls of an MPI op.\n"
	 "#     MPI_*_TOTAL_TIME: total time (i.e, cumulative across all calls) of an MPI op.\n"
	 "#     MPI_*_MIN_TIME: minimum time across all calls of an MPI op.\n"
	 "#     MPI_*_MAX_TIME: maximum time across all calls of an MPI op.\n"
	 "#     MPI_*_TOTAL_SYNC_TIME: total sync time (cumulative across all calls of an op) of an MPI "
	 "op, if enabled.\n"
	 "#     MPI_TOTAL_COMM_TIME: total communication (MPI) time of a process across all the MPI "
	 "ops.\n"
	 "#     MPI_TOTAL_COMM_SYNC_TIME: total sync time of a process across all the MPI ops, if "
	 "enabled.\n"},
	{0, 0, NULL},
};
