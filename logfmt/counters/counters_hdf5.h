/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 modules (H5F version 3, H5D version 2), in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_HDF5_H
#define LOGFMT_COUNTERS_COUNTERS_HDF5_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_H5F_COUNTERS(X) \
	X(OPENS, SUM, "opens and creates") \
	X(FLUSHES, SUM, "flushes") \
	X(USE_MPIIO, MAX, "1 when opened through MPI-IO")

#define SCRIBE_H5F_F_COUNTERS(X) \
	X(OPEN_START_TIMESTAMP, FIRST, "start of the first open") \
	X(CLOSE_START_TIMESTAMP, FIRST, "start of the first close") \
	X(OPEN_END_TIMESTAMP, MAX, "end of the last open") \
	X(CLOSE_END_TIMESTAMP, MAX, "end of the last close") \
	X(META_TIME, SUM, "time in metadata operations, overlap counted once")

enum scribe_h5f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_H5F_##name,
	SCRIBE_H5F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_H5F_COUNT
};

enum scribe_h5f_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_H5F_F_##name,
	SCRIBE_H5F_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_H5F_F_COUNT
};

#define SCRIBE_H5D_COUNTERS(X) \
	X(OPENS, SUM, "opens and creates") \
	X(READS, SUM, "reads") \
	X(WRITES, SUM, "writes") \
	X(FLUSHES, SUM, "flushes") \
	X(BYTES_READ, SUM, "bytes read") \
	X(BYTES_WRITTEN, SUM, "bytes written") \
	X(RW_SWITCHES, SUM, "changes between read and write") \
	X(REGULAR_HYPERSLAB_SELECTS, SUM, "accesses by a regular hyperslab") \
	X(IRREGULAR_HYPERSLAB_SELECTS, SUM, "accesses by an irregular hyperslab") \
	X(POINT_SELECTS, SUM, "accesses by a list of points") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, AGG_) \
	X(ACCESS1_ACCESS, VALUE, "most frequent access size, bytes") \
	X(ACCESS1_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS1_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS1_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS1_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS1_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS1_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS1_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS1_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS1_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS1_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS2_ACCESS, VALUE, "second access size, bytes") \
	X(ACCESS2_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS2_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS2_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS2_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS2_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS2_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS2_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS2_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS2_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS2_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS3_ACCESS, VALUE, "third access size, bytes") \
	X(ACCESS3_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS3_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS3_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS3_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS3_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS3_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS3_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS3_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS3_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS3_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS4_ACCESS, VALUE, "fourth access size, bytes") \
	X(ACCESS4_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS4_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS4_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS4_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS4_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS4_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS4_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS4_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS4_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS4_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS1_COUNT, COUNT, "how often the most frequent access size came") \
	X(ACCESS2_COUNT, COUNT, "how often the second access size came") \
	X(ACCESS3_COUNT, COUNT, "how often the third access size came") \
	X(ACCESS4_COUNT, COUNT, "how often the fourth access size came") \
	X(DATASPACE_NDIMS, KEEP, "dimensions of the dataspace") \
	X(DATASPACE_NPOINTS, KEEP, "points of the dataspace") \
	X(DATATYPE_SIZE, KEEP, "bytes of one element") \
	X(CHUNK_SIZE_D1, KEEP, "chunk size in dimension 1") \
	X(CHUNK_SIZE_D2, KEEP, "chunk size in dimension 2") \
	X(CHUNK_SIZE_D3, KEEP, "chunk size in dimension 3") \
	X(CHUNK_SIZE_D4, KEEP, "chunk size in dimension 4") \
	X(CHUNK_SIZE_D5, KEEP, "chunk size in dimension 5") \
	X(USE_MPIIO_COLLECTIVE, MAX, "1 when accessed by collective MPI-IO") \
	X(USE_DEPRECATED, MAX, "1 when made by a deprecated call") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_H5D_F_COUNTERS(X) \
	X(OPEN_START_TIMESTAMP, FIRST, "start of the first open") \
	X(READ_START_TIMESTAMP, FIRST, "start of the first read") \
	X(WRITE_START_TIMESTAMP, FIRST, "start of the first write") \
	X(CLOSE_START_TIMESTAMP, FIRST, "start of the first close") \
	X(OPEN_END_TIMESTAMP, MAX, "end of the last open") \
	X(READ_END_TIMESTAMP, MAX, "end of the last read") \
	X(WRITE_END_TIMESTAMP, MAX, "end of the last write") \
	X(CLOSE_END_TIMESTAMP, MAX, "end of the last close") \
	X(READ_TIME, SUM, "time in reads, overlap counted once") \
	X(WRITE_TIME, SUM, "time in writes, overlap counted once") \
	X(META_TIME, SUM, "time in metadata operations, overlap counted once") \
	X(MAX_READ_TIME, SLOWEST, "duration of the longest read") \
	X(MAX_WRITE_TIME, SLOWEST, "duration of the longest write") \
	X(FASTEST_RANK_TIME, RANK, "I/O time of the fastest rank of a shared record") \
	X(SLOWEST_RANK_TIME, RANK, "I/O time of the slowest rank of a shared record") \
	X(VARIANCE_RANK_TIME, VARIANCE, "population variance of I/O time over ranks") \
	X(VARIANCE_RANK_BYTES, VARIANCE, "population variance of bytes moved over ranks")

enum scribe_h5d_id {
#define SCRIBE_X(name, rule, text) SCRIBE_H5D_##name,
	SCRIBE_H5D_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_H5D_COUNT
};

enum scribe_h5d_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_H5D_F_##name,
	SCRIBE_H5D_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_H5D_F_COUNT
};

#define SCRIBE_H5D_DIMS 5 /* dimensions kept per access */

#endif
