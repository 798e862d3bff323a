/* SPDX-License-Identifier: BSD-3-Clause */
/* One message of a Darshan-LDMS stream: an operation, or several of one kind. */
#ifndef UTIL_STORE_EVENT_H
#define UTIL_STORE_EVENT_H

#include <stdint.h>

/* "seg" may hold this many operations; connectors send one. */
#define SCRIBE_EVENT_MAX_SEGS 64
/* Bytes of one operation: a pebibyte. */
#define SCRIBE_EVENT_MAX_LEN (INT64_C(1) << 50)
/* What a number is that the message has not, or has as -1. */
#define SCRIBE_EVENT_NONE INT64_MIN

/*
 * What identifies the message as a whole: X(key of JSON, field). All integers; record_id is
 * unsigned there. Texts: T(key of JSON, field).
 */
#define SCRIBE_EVENT_INTS(X)                                                                                 \
	X("uid", uid)                                                                                        \
	X("job_id", job_id)                                                                                  \
	X("rank", rank)                                                                                      \
	X("max_byte", max_byte)                                                                              \
	X("switches", switches)                                                                              \
	X("flushes", flushes)                                                                                \
	X("cnt", cnt)
#define SCRIBE_EVENT_TEXTS(T)                                                                                \
	T("exe", exe)                                                                                        \
	T("ProducerName", node)                                                                              \
	T("file", file)                                                                                      \
	T("module", module)                                                                                  \
	T("type", type)                                                                                      \
	T("op", op)
/* Of one operation; the times are seconds with a fraction there, nanoseconds here. */
#define SCRIBE_EVENT_SEG_INTS(X)                                                                             \
	X("pt_sel", pt_sel)                                                                                  \
	X("irreg_hslab", irreg_hslab)                                                                        \
	X("reg_hslab", reg_hslab)                                                                            \
	X("ndims", ndims)                                                                                    \
	X("npoints", npoints)                                                                                \
	X("off", off)                                                                                        \
	X("len", len)
#define SCRIBE_EVENT_SEG_TIMES(X)                                                                            \
	X("start", start_ns)                                                                                 \
	X("dur", dur_ns)                                                                                     \
	X("total", total_ns)                                                                                 \
	X("timestamp", time_ns)

struct scribe_event_seg {
#define SCRIBE_X(key, field) int64_t field;
	SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
	SCRIBE_EVENT_SEG_TIMES(SCRIBE_X)
#undef SCRIBE_X
};

/* Texts are borrowed; NULL: none, as "N/A" is. */
struct scribe_event {
	uint64_t record_id;
#define SCRIBE_X(key, field) int64_t field;
	SCRIBE_EVENT_INTS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(key, field) const char *field;
	SCRIBE_EVENT_TEXTS(SCRIBE_X)
#undef SCRIBE_X
	int nsegs;
	struct scribe_event_seg segs[SCRIBE_EVENT_MAX_SEGS];
};

/* To the nearest; SCRIBE_EVENT_NONE stays. */
static inline int64_t scribe_event_us(int64_t ns)
{
	return ns == SCRIBE_EVENT_NONE ? ns : (ns + (ns < 0 ? -500 : 500)) / 1000;
}

/* Where operations of a job come from; a job has one of them. */
enum scribe_store_origin { SCRIBE_FROM_STREAM, SCRIBE_FROM_LOG };

#endif
