/* SPDX-License-Identifier: BSD-3-Clause */
/* STDIO module, version 2, in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_STDIO_H
#define LOGFMT_COUNTERS_COUNTERS_STDIO_H

#define SCRIBE_STDIO_COUNTERS(X) \
	X(OPENS, SUM, "streams opened") \
	X(FDOPENS, SUM, "streams opened on a descriptor") \
	X(READS, SUM, "reads") \
	X(WRITES, SUM, "writes") \
	X(SEEKS, SUM, "seeks") \
	X(FLUSHES, SUM, "flushes") \
	X(BYTES_WRITTEN, SUM, "bytes written") \
	X(BYTES_READ, SUM, "bytes read") \
	X(MAX_BYTE_READ, MAX, "highest offset read") \
	X(MAX_BYTE_WRITTEN, MAX, "highest offset written") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_STDIO_F_COUNTERS(X) \
	X(META_TIME, SUM, "time in metadata operations, overlap counted once") \
	X(WRITE_TIME, SUM, "time in writes, overlap counted once") \
	X(READ_TIME, SUM, "time in reads, overlap counted once") \
	X(OPEN_START_TIMESTAMP, FIRST, "start of the first open") \
	X(CLOSE_START_TIMESTAMP, FIRST, "start of the first close") \
	X(WRITE_START_TIMESTAMP, FIRST, "start of the first write") \
	X(READ_START_TIMESTAMP, FIRST, "start of the first read") \
	X(OPEN_END_TIMESTAMP, MAX, "end of the last open") \
	X(CLOSE_END_TIMESTAMP, MAX, "end of the last close") \
	X(WRITE_END_TIMESTAMP, MAX, "end of the last write") \
	X(READ_END_TIMESTAMP, MAX, "end of the last read") \
	X(FASTEST_RANK_TIME, RANK, "I/O time of the fastest rank of a shared record") \
	X(SLOWEST_RANK_TIME, RANK, "I/O time of the slowest rank of a shared record") \
	X(VARIANCE_RANK_TIME, VARIANCE, "population variance of I/O time over ranks") \
	X(VARIANCE_RANK_BYTES, VARIANCE, "population variance of bytes moved over ranks")

enum scribe_stdio_id {
#define SCRIBE_X(name, rule, text) SCRIBE_STDIO_##name,
	SCRIBE_STDIO_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_STDIO_COUNT
};

enum scribe_stdio_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_STDIO_F_##name,
	SCRIBE_STDIO_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_STDIO_F_COUNT
};

#endif
