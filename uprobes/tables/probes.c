// SPDX-License-Identifier: BSD-3-Clause
/*
 * The probe tables: functions per library, what they count, and their arguments. Columns: symbol, counters as
 * text, handler, operation, counter, flags, implied form, dereferenced arguments, argument per role. Read only;
 * used by helpers and daemon. Must not know: ELF, BPF.
 */
#include "uprobes/tables/probes.h"

#include "logfmt/counters/built.h"
#include "logfmt/counters/records.h"
#include "uprobes/tables/mpiio_list.h"

#define READ        SCRIBE_OP_READ
#define WRITE       SCRIBE_OP_WRITE
#define NONE        SCRIBE_COUNT_NONE
#define BIT(module) (1ull << SCRIBE_MOD_##module)
#define ARGS(...)                                                                                            \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}
#define X SCRIBE_ARG_NONE

#if IOSCRIBE_MODULE_MPIIO
#define OFFSET_AT      1
#define OFFSET_POINTER X
#define OFFSET_SHARED  X
#define DATA(name, op, counter, flags, count, type, where)                                                   \
	{                                                                                                    \
		"MPI_File_" name, "MPIIO_" #counter, SCRIBE_FN_MPI_DATA, op, SCRIBE_MPIIO_##counter, flags,  \
			0, 0, ARGS(0, count, type, OFFSET_##where, X, X)                                     \
	},
#define DATA_BOTH(name, op, counter, count, type, where)                                                     \
	DATA(#name, op, counter, SCRIBE_POINT_RETURNS, count, type, where)                                    \
	DATA(#name "_c", op, counter, SCRIBE_POINT_RETURNS | SCRIBE_POINT_WIDE, count, type, where)

static const struct scribe_probe mpiio[] = {
	/* Roles: file, count, datatype, offset. */
	{"MPI_File_open", "MPIIO_INDEP_OPENS, MPIIO_COLL_OPENS, MPIIO_HINTS, MPIIO_MODE", SCRIBE_FN_MPI_OPEN,
	 0, NONE, SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, 1, 2, 3, 4, X)},
	{"MPI_File_close", "MPIIO_F_CLOSE_*_TIMESTAMP, MPIIO_F_META_TIME", SCRIBE_FN_MPI_CLOSE, 0, NONE,
	 SCRIBE_POINT_RETURNS, 0, 1, ARGS(0, X, X, X, X, X)},
	{"MPI_File_sync", "MPIIO_SYNCS", SCRIBE_FN_MPI_SYNC, 0, SCRIBE_MPIIO_SYNCS, SCRIBE_POINT_RETURNS, 0, 0,
	 ARGS(0, X, X, X, X, X)},
	{"MPI_File_set_view", "MPIIO_VIEWS, MPIIO_HINTS", SCRIBE_FN_MPI_VIEW, 0, SCRIBE_MPIIO_VIEWS,
	 SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, 5, 1, 2, 3, 4)},
	SCRIBE_MPIIO_DATA(DATA_BOTH)
	{"MPI_Type_size_x", "bytes of a datatype (inside a data call, MPICH)", SCRIBE_FN_MPI_TYPE_SIZE, 0,
	 NONE, SCRIBE_POINT_RETURNS | SCRIBE_POINT_INNER, 0, 0, ARGS(0, 1, X, X, X, X)},
	{"MPI_Comm_size", "processes of the communicator (inside an open, MPICH)", SCRIBE_FN_MPI_COMM_SIZE, 0,
	 NONE, SCRIBE_POINT_RETURNS | SCRIBE_POINT_INNER, 0, 0, ARGS(0, 1, X, X, X, X)},
};

/* libioscribe-inside.so counts data calls in the program and passes other calls on to these functions. */
static const struct scribe_probe mpiio_wrap[] = {
	{"ioscribe_file_site", "which data calls the program counts itself", SCRIBE_FN_MPI_INSIDE, 0,
	 NONE, 0, 0, 0, ARGS(0, 1, 2, 3, 4, X)},
	{"ioscribe_mpi_open", "MPIIO_INDEP_OPENS, MPIIO_COLL_OPENS, MPIIO_HINTS, MPIIO_MODE", SCRIBE_FN_MPI_OPEN, 0,
	 NONE, SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, 1, 2, 3, 4, X)},
	{"ioscribe_mpi_close", "MPIIO_F_CLOSE_*_TIMESTAMP, MPIIO_F_META_TIME", SCRIBE_FN_MPI_CLOSE, 0, NONE,
	 SCRIBE_POINT_RETURNS, 0, 1, ARGS(0, X, X, X, X, X)},
	{"ioscribe_mpi_sync", "MPIIO_SYNCS", SCRIBE_FN_MPI_SYNC, 0, SCRIBE_MPIIO_SYNCS, SCRIBE_POINT_RETURNS, 0, 0,
	 ARGS(0, X, X, X, X, X)},
	{"ioscribe_mpi_view", "MPIIO_VIEWS, MPIIO_HINTS", SCRIBE_FN_MPI_VIEW, 0, SCRIBE_MPIIO_VIEWS,
	 SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, 1, X, X, X, X)},
	{"ioscribe_mpi_data", "data calls that the program does not count itself", SCRIBE_FN_MPI_DATA, 0, NONE,
	 SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, 1, 2, 3, X, X)},
};

static const size_t nmpiio = sizeof(mpiio) / sizeof(mpiio[0]);
static const size_t nmpiio_wrap = sizeof(mpiio_wrap) / sizeof(mpiio_wrap[0]);
#endif

#if IOSCRIBE_MODULE_STDIO
#define STREAM(name, fn, counter, ...)                                                                       \
	{                                                                                                    \
		name, "STDIO_" counter, SCRIBE_FN_STREAM_##fn, 0, NONE, SCRIBE_POINT_RETURNS, 0, 0,           \
			ARGS(__VA_ARGS__)                                                                    \
	}
/* Output to standard error through functions that cannot be wrapped. */
#define MESSAGE(name)                                                                                        \
	{                                                                                                    \
		name, "STDIO_WRITES, where calls are counted", SCRIBE_FN_STREAM_MESSAGE, WRITE, NONE,        \
			SCRIBE_POINT_RETURNS, 0, 0, ARGS(X, X, X, X, X, X)                                  \
	}
static const struct scribe_probe stdio[] = {
	/* Data calls are counted by wrappers, or system calls. */
	STREAM("fopen", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("fopen64", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("freopen", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("freopen64", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("tmpfile", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("tmpfile64", OPEN, "OPENS", X, X, X, X, X, X),
	STREAM("fdopen", FDOPEN, "FDOPENS", 0, X, X, X, X, X),
	STREAM("fflush", FLUSH, "FLUSHES", 0, X, X, X, X, X),
	STREAM("fflush_unlocked", FLUSH, "FLUSHES", 0, X, X, X, X, X),
	MESSAGE("perror"),
	MESSAGE("psignal"),
	MESSAGE("psiginfo"),
	MESSAGE("warn"),
	MESSAGE("warnx"),
	MESSAGE("vwarn"),
	MESSAGE("vwarnx"),
	MESSAGE("error"),
	MESSAGE("error_at_line"),
	MESSAGE("getopt"),
	MESSAGE("getopt_long"),
	MESSAGE("getopt_long_only"),
};

static const size_t nstdio = sizeof(stdio) / sizeof(stdio[0]);
#endif

#if IOSCRIBE_MODULE_HDF5
#define H5(name, what, fn, op, ...)                                                                          \
	{                                                                                                    \
		name, what, SCRIBE_FN_H5_##fn, op, NONE, SCRIBE_POINT_RETURNS, 0, 0, ARGS(__VA_ARGS__)        \
	}

#define H5_AROUND(name, what, fn)                                                                            \
	{                                                                                                    \
		name, what, SCRIBE_FN_H5_##fn, 0, NONE, SCRIBE_POINT_RETURNS | SCRIBE_POINT_AROUND, 0, 0,      \
			ARGS(X, X, X, X, X, X)                                                               \
	}

static const struct scribe_probe hdf5[] = {
	/* Datasets by internal functions, which every form of an open, read or write passes. */
	H5("H5Fopen", "H5F_OPENS, H5F_USE_MPIIO", FILE_OPEN, 0, 0, X, X, X, X, X),
	H5("H5Fcreate", "H5F_OPENS, H5F_USE_MPIIO", FILE_OPEN, 0, 0, X, X, X, X, X),
	H5("H5Fclose", "H5F_F_CLOSE_*_TIMESTAMP", FILE_CLOSE, 0, 0, X, X, X, X, X),
	H5("H5Idec_ref", "H5F_F_CLOSE_*_TIMESTAMP (of a file)", FILE_CLOSE, 0, 0, X, X, X, X, X),
	H5("H5Fflush", "H5F_FLUSHES", FILE_FLUSH, 0, 0, X, X, X, X, X),
	H5("H5Fopen_async", "H5F_OPENS, H5F_USE_MPIIO", FILE_OPEN, 0, 3, X, X, X, X, X),
	H5("H5Fcreate_async", "H5F_OPENS, H5F_USE_MPIIO", FILE_OPEN, 0, 3, X, X, X, X, X),
	H5("H5Fclose_async", "H5F_F_CLOSE_*_TIMESTAMP", FILE_CLOSE, 0, 3, X, X, X, X, X),
	H5("H5Fflush_async", "H5F_FLUSHES", FILE_FLUSH, 0, 3, X, X, X, X, X),
	H5("H5D_open", "H5D_OPENS, H5D_DATA*", SET_OPEN, 0, X, X, X, X, X, X),
	H5("H5D__create", "H5D_OPENS, H5D_DATA*", SET_OPEN, 0, X, X, X, X, X, X),
	H5("H5D_close", "H5D_F_CLOSE_*_TIMESTAMP", SET_CLOSE, 0, 0, X, X, X, X, X),
	H5("H5D__read", "H5D_READS, H5D_*_SELECTS", SET_DATA, READ, 0, 3, 1, X, X, X),
	H5("H5D__write", "H5D_WRITES, H5D_*_SELECTS", SET_DATA, WRITE, 0, 3, 1, X, X, X),
	H5("H5D__flush", "H5D_FLUSHES", SET_FLUSH, 0, 0, X, X, X, X, X),
	H5("H5D__chunk_direct_read", "H5D_READS", SET_CHUNK, READ, 0, X, X, X, X, X),
	H5("H5D__chunk_direct_write", "H5D_WRITES", SET_CHUNK, WRITE, 0, 3, X, X, X, X),
	{"H5F_block_read", "bytes of a chunk (inside H5Dread_chunk)", SCRIBE_FN_H5_BLOCK_READ, 0, NONE,
	 SCRIBE_POINT_INNER, 0, 0, ARGS(1, 3, X, X, X, X)},
	{"H5F_shared_block_read", "bytes of a chunk (inside H5Dread_chunk, from 1.12 on)",
	 SCRIBE_FN_H5_BLOCK_READ, 0, NONE, SCRIBE_POINT_INNER, 0, 0, ARGS(1, 3, X, X, X, X)},
	{"H5F_open", "which structure is the file's (inside H5Fopen, H5Fcreate)", SCRIBE_FN_H5_FILE_MADE, 0,
	 NONE, SCRIBE_POINT_RETURNS | SCRIBE_POINT_INNER, 0, 0, ARGS(X, X, X, X, X, X)},
	{"H5F__flush", "which file it is (inside H5Fflush)", SCRIBE_FN_H5_FILE_MEANT, 0, NONE,
	 SCRIBE_POINT_INNER, 0, 0, ARGS(0, X, X, X, X, X)},
	{"H5F_flush_mounts", "which file it is (inside H5Fflush)", SCRIBE_FN_H5_FILE_MEANT, 0, NONE,
	 SCRIBE_POINT_INNER, 0, 0, ARGS(0, X, X, X, X, X)},
	/* These call the functions above; only they show that the deprecated form was used. */
	H5_AROUND("H5Dcreate1", "H5D_USE_DEPRECATED", DEPRECATED),
	H5_AROUND("H5Dopen1", "H5D_USE_DEPRECATED", DEPRECATED),
};

static const size_t nhdf5 = sizeof(hdf5) / sizeof(hdf5[0]);
#endif

#if IOSCRIBE_MODULE_CUFILE
#define CUFILE(name, fn, op, counter, ...)                                                                   \
	{                                                                                                    \
		name, "CUFILE_" #counter, SCRIBE_FN_CUFILE_##fn, op, SCRIBE_CUFILE_##counter,                 \
			SCRIBE_POINT_RETURNS, 0, 0, ARGS(__VA_ARGS__)                                        \
	}

static const struct scribe_probe cufile[] = {
	CUFILE("cuFileHandleRegister", REGISTER, 0, REGISTERS, 0, 1, X, X, X, X),
	{"cuFileHandleDeregister", "which handles are valid", SCRIBE_FN_CUFILE_DROP, 0, NONE,
	 SCRIBE_POINT_RETURNS, 0, 0, ARGS(0, X, X, X, X, X)},
	CUFILE("cuFileRead", DATA, READ, READS, 0, X, X, X, X, X),
	CUFILE("cuFileWrite", DATA, WRITE, WRITES, 0, X, X, X, X, X),
	CUFILE("cuFileReadAsync", ASYNC, READ, ASYNC_READS, 0, X, X, X, X, X),
	CUFILE("cuFileWriteAsync", ASYNC, WRITE, ASYNC_WRITES, 0, X, X, X, X, X),
	CUFILE("cuFileBatchIOSubmit", BATCH, 0, BATCHED, 1, 2, X, X, X, X),
};

static const size_t ncufile = sizeof(cufile) / sizeof(cufile[0]);
#endif

/* Name, file pattern, identifying symbols, layer, modules, table, size. */
const struct scribe_library scribe_libraries[] = {
#if IOSCRIBE_MODULE_MPIIO
	/* Identified by marker symbols; the pattern only serves the search. */
	{"MPI",
	 "libmpi*.so*",
	 {"MPI_File_open", "PMPI_File_open"},
	 SCRIBE_LAYER_MPIIO,
	 BIT(MPIIO),
	 mpiio,
	 &nmpiio},
	{"ioscribe",
	 SCRIBE_INSIDE_NAME,
	 {"ioscribe_file_site", NULL},
	 SCRIBE_LAYER_MPIIO,
	 BIT(MPIIO),
	 mpiio_wrap,
	 &nmpiio_wrap},
#endif
#if IOSCRIBE_MODULE_HDF5
	{"HDF5",
	 "libhdf5*.so*",
	 {"H5D__write", NULL},
	 SCRIBE_LAYER_HDF5,
	 BIT(H5F) | BIT(H5D),
	 hdf5,
	 &nhdf5},
#endif
#if IOSCRIBE_MODULE_PNETCDF
	{"PnetCDF",
	 "libpnetcdf*.so*",
	 {"ncmpi_put_vara_all", NULL},
	 SCRIBE_LAYER_PNETCDF,
	 BIT(PNETCDF_FILE) | BIT(PNETCDF_VAR),
	 scribe_probes_pnetcdf,
	 &scribe_nprobes_pnetcdf},
#endif
#if IOSCRIBE_MODULE_CUFILE
	{"cuFile",
	 "libcufile.so*",
	 {"cuFileHandleRegister", NULL},
	 SCRIBE_LAYER_CUFILE,
	 BIT(CUFILE),
	 cufile,
	 &ncufile},
#endif
#if IOSCRIBE_MODULE_STDIO
	{"C library", "libc.so*", {"fopen", "freopen"}, SCRIBE_LAYER_STDIO, BIT(STDIO), stdio, &nstdio},
#endif
	{.name = NULL}, /* some builds have none */
};
const size_t scribe_nlibraries = sizeof(scribe_libraries) / sizeof(scribe_libraries[0]) - 1;
