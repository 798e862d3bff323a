/* SPDX-License-Identifier: BSD-3-Clause */
/* DAOS file system and object modules, version 1, in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_DAOS_H
#define LOGFMT_COUNTERS_COUNTERS_DAOS_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_DFS_COUNTERS(X) \
	X(OPENS, UNKNOWN, "opens") \
	X(GLOBAL_OPENS, UNKNOWN, "opens from a global handle") \
	X(LOOKUPS, UNKNOWN, "lookups") \
	X(DUPS, UNKNOWN, "dups") \
	X(READS, UNKNOWN, "reads") \
	X(READXS, UNKNOWN, "vector reads") \
	X(WRITES, UNKNOWN, "writes") \
	X(WRITEXS, UNKNOWN, "vector writes") \
	X(NB_READS, UNKNOWN, "nb reads") \
	X(NB_WRITES, UNKNOWN, "nb writes") \
	X(GET_SIZES, UNKNOWN, "size queries") \
	X(PUNCHES, UNKNOWN, "punches") \
	X(REMOVES, UNKNOWN, "removes") \
	X(STATS, UNKNOWN, "stats") \
	X(BYTES_READ, UNKNOWN, "bytes read") \
	X(BYTES_WRITTEN, UNKNOWN, "bytes written") \
	X(RW_SWITCHES, UNKNOWN, "rw switches") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, ) \
	X(ACCESS1_ACCESS, VALUE, "most frequent access size, bytes") \
	X(ACCESS2_ACCESS, VALUE, "second access size, bytes") \
	X(ACCESS3_ACCESS, VALUE, "third access size, bytes") \
	X(ACCESS4_ACCESS, VALUE, "fourth access size, bytes") \
	X(ACCESS1_COUNT, COUNT, "how often the most frequent access size came") \
	X(ACCESS2_COUNT, COUNT, "how often the second access size came") \
	X(ACCESS3_COUNT, COUNT, "how often the third access size came") \
	X(ACCESS4_COUNT, COUNT, "how often the fourth access size came") \
	X(CHUNK_SIZE, KEEP, "chunk size, bytes") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_DFS_F_COUNTERS(X) \
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
	X(SLOWEST_RANK_TIME, RANK, "I/O time of the slowest rank of a shared record")

enum scribe_dfs_id {
#define SCRIBE_X(name, rule, text) SCRIBE_DFS_##name,
	SCRIBE_DFS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_DFS_COUNT
};

enum scribe_dfs_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_DFS_F_##name,
	SCRIBE_DFS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_DFS_F_COUNT
};

#define SCRIBE_DAOS_COUNTERS(X) \
	X(OBJ_OPENS, UNKNOWN, "object opens") \
	X(OBJ_FETCHES, UNKNOWN, "object fetches") \
	X(OBJ_UPDATES, UNKNOWN, "object updates") \
	X(OBJ_PUNCHES, UNKNOWN, "object punches") \
	X(OBJ_DKEY_PUNCHES, UNKNOWN, "object dkey punches") \
	X(OBJ_AKEY_PUNCHES, UNKNOWN, "object akey punches") \
	X(OBJ_DKEY_LISTS, UNKNOWN, "object dkey lists") \
	X(OBJ_AKEY_LISTS, UNKNOWN, "object akey lists") \
	X(OBJ_RECX_LISTS, UNKNOWN, "object recx lists") \
	X(ARRAY_OPENS, UNKNOWN, "array opens") \
	X(ARRAY_READS, UNKNOWN, "array reads") \
	X(ARRAY_WRITES, UNKNOWN, "array writes") \
	X(ARRAY_GET_SIZES, UNKNOWN, "array get sizes") \
	X(ARRAY_SET_SIZES, UNKNOWN, "array set sizes") \
	X(ARRAY_STATS, UNKNOWN, "array stats") \
	X(ARRAY_PUNCHES, UNKNOWN, "array punches") \
	X(ARRAY_DESTROYS, UNKNOWN, "array destroys") \
	X(KV_OPENS, UNKNOWN, "kv opens") \
	X(KV_GETS, UNKNOWN, "kv gets") \
	X(KV_PUTS, UNKNOWN, "kv puts") \
	X(KV_REMOVES, UNKNOWN, "kv removes") \
	X(KV_LISTS, UNKNOWN, "kv lists") \
	X(KV_DESTROYS, UNKNOWN, "kv destroys") \
	X(NB_OPS, UNKNOWN, "nonblocking operations") \
	X(BYTES_READ, UNKNOWN, "bytes read") \
	X(BYTES_WRITTEN, UNKNOWN, "bytes written") \
	X(RW_SWITCHES, UNKNOWN, "rw switches") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, ) \
	X(ACCESS1_ACCESS, VALUE, "most frequent access size, bytes") \
	X(ACCESS2_ACCESS, VALUE, "second access size, bytes") \
	X(ACCESS3_ACCESS, VALUE, "third access size, bytes") \
	X(ACCESS4_ACCESS, VALUE, "fourth access size, bytes") \
	X(ACCESS1_COUNT, COUNT, "how often the most frequent access size came") \
	X(ACCESS2_COUNT, COUNT, "how often the second access size came") \
	X(ACCESS3_COUNT, COUNT, "how often the third access size came") \
	X(ACCESS4_COUNT, COUNT, "how often the fourth access size came") \
	X(OBJ_OTYPE, KEEP, "object type") \
	X(ARRAY_CELL_SIZE, KEEP, "cell size, bytes") \
	X(ARRAY_CHUNK_SIZE, KEEP, "chunk size, bytes") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_DAOS_F_COUNTERS(X) \
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
	X(SLOWEST_RANK_TIME, RANK, "I/O time of the slowest rank of a shared record")

enum scribe_daos_id {
#define SCRIBE_X(name, rule, text) SCRIBE_DAOS_##name,
	SCRIBE_DAOS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_DAOS_COUNT
};

enum scribe_daos_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_DAOS_F_##name,
	SCRIBE_DAOS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_DAOS_F_COUNT
};

#endif
