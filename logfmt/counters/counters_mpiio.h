/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO module, version 3, in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_MPIIO_H
#define LOGFMT_COUNTERS_COUNTERS_MPIIO_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_MPIIO_COUNTERS(X) \
	X(INDEP_OPENS, SUM, "opens by one process") \
	X(COLL_OPENS, SUM, "opens by several processes") \
	X(INDEP_READS, SUM, "independent reads") \
	X(INDEP_WRITES, SUM, "independent writes") \
	X(COLL_READS, SUM, "collective reads") \
	X(COLL_WRITES, SUM, "collective writes") \
	X(SPLIT_READS, SUM, "split collective reads") \
	X(SPLIT_WRITES, SUM, "split collective writes") \
	X(NB_READS, SUM, "nonblocking reads") \
	X(NB_WRITES, SUM, "nonblocking writes") \
	X(SYNCS, SUM, "syncs") \
	X(HINTS, SUM, "opens and views with hints") \
	X(VIEWS, SUM, "file views set") \
	X(MODE, KEEP, "access mode of the open") \
	X(BYTES_READ, SUM, "bytes asked to be read") \
	X(BYTES_WRITTEN, SUM, "bytes asked to be written") \
	X(RW_SWITCHES, SUM, "changes between read and write") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, AGG_) \
	X(ACCESS1_ACCESS, VALUE, "most frequent access size, bytes") \
	X(ACCESS2_ACCESS, VALUE, "second access size, bytes") \
	X(ACCESS3_ACCESS, VALUE, "third access size, bytes") \
	X(ACCESS4_ACCESS, VALUE, "fourth access size, bytes") \
	X(ACCESS1_COUNT, COUNT, "how often the most frequent access size came") \
	X(ACCESS2_COUNT, COUNT, "how often the second access size came") \
	X(ACCESS3_COUNT, COUNT, "how often the third access size came") \
	X(ACCESS4_COUNT, COUNT, "how often the fourth access size came") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_MPIIO_F_COUNTERS(X) \
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

enum scribe_mpiio_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MPIIO_##name,
	SCRIBE_MPIIO_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MPIIO_COUNT
};

enum scribe_mpiio_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MPIIO_F_##name,
	SCRIBE_MPIIO_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MPIIO_F_COUNT
};

#endif
