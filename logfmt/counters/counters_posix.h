/* SPDX-License-Identifier: BSD-3-Clause */
/* POSIX module, version 4, in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_POSIX_H
#define LOGFMT_COUNTERS_COUNTERS_POSIX_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_POSIX_COUNTERS(X) \
	X(OPENS, UNKNOWN, "opens, dups included") \
	X(FILENOS, UNKNOWN, "fileno calls (-1: not a system call)") \
	X(DUPS, UNKNOWN, "dup, dup2, dup3, fcntl F_DUPFD") \
	X(READS, UNKNOWN, "reads") \
	X(WRITES, UNKNOWN, "writes") \
	X(SEEKS, UNKNOWN, "lseeks") \
	X(STATS, UNKNOWN, "stat family") \
	X(MMAPS, UNKNOWN, "mappings") \
	X(FSYNCS, UNKNOWN, "fsyncs") \
	X(FDSYNCS, UNKNOWN, "fdatasyncs") \
	X(RENAME_SOURCES, UNKNOWN, "renames away from this name") \
	X(RENAME_TARGETS, UNKNOWN, "renames onto this name") \
	X(RENAMED_FROM, KEEP, "record id of the first rename's source") \
	X(MODE, KEEP, "mode argument of the last open that had one") \
	X(BYTES_READ, SUM, "bytes read") \
	X(BYTES_WRITTEN, SUM, "bytes written") \
	X(MAX_BYTE_READ, MAX, "highest offset read") \
	X(MAX_BYTE_WRITTEN, MAX, "highest offset written") \
	X(CONSEC_READS, SUM, "reads right after the previous one") \
	X(CONSEC_WRITES, SUM, "writes right after the previous one") \
	X(SEQ_READS, SUM, "reads beyond the previous one") \
	X(SEQ_WRITES, SUM, "writes beyond the previous one") \
	X(RW_SWITCHES, SUM, "changes between read and write") \
	X(MEM_NOT_ALIGNED, SUM, "buffers not aligned in memory") \
	X(MEM_ALIGNMENT, KEEP, "memory alignment, bytes") \
	X(FILE_NOT_ALIGNED, SUM, "offsets not aligned in the file") \
	X(FILE_ALIGNMENT, KEEP, "file alignment, bytes") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, ) \
	X(STRIDE1_STRIDE, VALUE, "most frequent stride, bytes") \
	X(STRIDE2_STRIDE, VALUE, "second stride, bytes") \
	X(STRIDE3_STRIDE, VALUE, "third stride, bytes") \
	X(STRIDE4_STRIDE, VALUE, "fourth stride, bytes") \
	X(STRIDE1_COUNT, COUNT, "how often the most frequent stride came") \
	X(STRIDE2_COUNT, COUNT, "how often the second stride came") \
	X(STRIDE3_COUNT, COUNT, "how often the third stride came") \
	X(STRIDE4_COUNT, COUNT, "how often the fourth stride came") \
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

#define SCRIBE_POSIX_F_COUNTERS(X) \
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

enum scribe_posix_id {
#define SCRIBE_X(name, rule, text) SCRIBE_POSIX_##name,
	SCRIBE_POSIX_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_POSIX_COUNT
};

enum scribe_posix_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_POSIX_F_##name,
	SCRIBE_POSIX_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_POSIX_F_COUNT
};

#endif
