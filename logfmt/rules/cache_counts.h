/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the page cache could not serve, or took in, for a file of one process (docs/counters.md, CACHE). Changed with
 * the shard beside it: under its lock, or atomically in the shared one.
 */
#ifndef LOGFMT_RULES_CACHE_COUNTS_H
#define LOGFMT_RULES_CACHE_COUNTS_H

#include "logfmt/rules/types.h"

/* X(name, rule, text). The first two change at many reads and most writes, the others seldom. */
#define SCRIBE_CACHE_COUNTERS(X) \
	X(BYTES_FETCHED, UNKNOWN, \
	  "bytes that reads fetched from a device or server, with read-ahead, without O_DIRECT") \
	X(BYTES_DIRTIED, UNKNOWN, "bytes of pages that writes made dirty") \
	X(READS_FETCHED, UNKNOWN, "reads that fetched anything, without O_DIRECT") \
	X(DIRECT_BYTES_READ, UNKNOWN, "bytes that reads with O_DIRECT fetched") \
	X(DIRECT_BYTES_WRITTEN, UNKNOWN, "bytes that writes with O_DIRECT sent") \
	X(MINOR_FAULTS, UNKNOWN, "page faults in mappings of the file that fetched nothing") \
	X(MAJOR_FAULTS, UNKNOWN, "page faults in mappings of the file that fetched pages") \
	X(BYTES_FAULTED, UNKNOWN, "bytes that page faults fetched, with read-ahead") \
	X(MAPPED_BYTES_DIRTIED, UNKNOWN, "bytes of pages that became dirty through mappings of the file")

#define SCRIBE_CACHE_F_COUNTERS(X) \
	X(FETCH_TIME, SUM, "time of the reads that fetched anything, seconds") \
	X(THROTTLED_TIME, SUM, "time for which writes were held back because too many pages were dirty, seconds")

enum scribe_cache_id {
#define SCRIBE_X(name, rule, text) SCRIBE_CACHE_##name,
	SCRIBE_CACHE_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_CACHE_COUNT
};

enum scribe_cache_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_CACHE_F_##name,
	SCRIBE_CACHE_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_CACHE_F_COUNT
};

/* So many are in a slot's first cache lines, the others at its end. */
#define SCRIBE_CACHE_OFTEN 2
#define SCRIBE_CACHE_ALL   (SCRIBE_CACHE_COUNT + SCRIBE_CACHE_F_COUNT) /* times after the integers, in ns */

#endif
