/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the CUFILE module: calls of cuFile (GPUDirect Storage), which read and write past the kernel. */
#ifndef LOGFMT_COUNTERS_COUNTERS_CUFILE_H
#define LOGFMT_COUNTERS_COUNTERS_CUFILE_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_CUFILE_COUNTERS(X) \
	X(REGISTERS, SUM, "calls of cuFileHandleRegister") \
	X(READS, SUM, "calls of cuFileRead") \
	X(WRITES, SUM, "calls of cuFileWrite") \
	X(ASYNC_READS, SUM, "calls of cuFileReadAsync; their bytes are not known") \
	X(ASYNC_WRITES, SUM, "calls of cuFileWriteAsync; their bytes are not known") \
	X(BATCHED, SUM, "requests in calls of cuFileBatchIOSubmit; their bytes are not known") \
	X(BYTES_READ, SUM, "bytes read by cuFileRead") \
	X(BYTES_WRITTEN, SUM, "bytes written by cuFileWrite") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, AGG_) \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_CUFILE_F_COUNTERS(X) \
	X(READ_START_TIMESTAMP, FIRST, "start of the first read") \
	X(WRITE_START_TIMESTAMP, FIRST, "start of the first write") \
	X(READ_END_TIMESTAMP, MAX, "end of the last read") \
	X(WRITE_END_TIMESTAMP, MAX, "end of the last write") \
	X(READ_TIME, SUM, "time in reads, overlap counted once") \
	X(WRITE_TIME, SUM, "time in writes, overlap counted once") \
	X(META_TIME, SUM, "time in cuFileHandleRegister, overlap counted once") \
	X(MAX_READ_TIME, SLOWEST, "duration of the longest read") \
	X(MAX_WRITE_TIME, SLOWEST, "duration of the longest write") \
	X(FASTEST_RANK_TIME, RANK, "time of the fastest rank of a shared record") \
	X(SLOWEST_RANK_TIME, RANK, "time of the slowest rank of a shared record")

enum scribe_cufile_id {
#define SCRIBE_X(name, rule, text) SCRIBE_CUFILE_##name,
	SCRIBE_CUFILE_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_CUFILE_COUNT
};

enum scribe_cufile_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_CUFILE_F_##name,
	SCRIBE_CUFILE_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_CUFILE_F_COUNT
};

#endif
