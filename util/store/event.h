/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of a Darshan-LDMS stream. */
#ifndef UTIL_STORE_EVENT_H
#define UTIL_STORE_EVENT_H

#include <stdint.h>

#define SCRIBE_EVENT_MAX_SEGS 64
/* 1 PiB per operation. */
#define SCRIBE_EVENT_MAX_LEN (INT64_C(1) << 50)
/* Absent, or -1 in the message. */
#define SCRIBE_EVENT_NONE INT64_MIN

/* X(JSON key, field); T: texts. */
#define SCRIBE_EVENT_INTS(X) \
	X("uid", uid) \
	X("job_id", job_id) \
	X("rank", rank) \
	X("max_byte", max_byte) \
	X("switches", switches) \
	X("flushes", flushes) \
	X("cnt", cnt)
#define SCRIBE_EVENT_TEXTS(T) \
	T("exe", exe) \
	T("ProducerName", node) \
	T("file", file) \
	T("module", module) \
	T("type", type) \
	T("op", op)
/* Of one operation; times are seconds in JSON and ns here. */
#define SCRIBE_EVENT_SEG_INTS(X) \
	X("pt_sel", pt_sel) \
	X("irreg_hslab", irreg_hslab) \
	X("reg_hslab", reg_hslab) \
	X("ndims", ndims) \
	X("npoints", npoints) \
	X("off", off) \
	X("len", len)
#define SCRIBE_EVENT_SEG_TIMES(X) \
	X("start", start_ns) \
	X("dur", dur_ns) \
	X("total", total_ns) \
	X("timestamp", time_ns)

struct scribe_event_seg {
#define SCRIBE_X(key, field) int64_t field;
	SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
	SCRIBE_EVENT_SEG_TIMES(SCRIBE_X)
#undef SCRIBE_X
};

/* NULL: absent or "N/A". */
struct scribe_store_event {
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

static inline int64_t scribe_event_us(int64_t ns)
{
	return ns == SCRIBE_EVENT_NONE ? ns : (ns + (ns < 0 ? -500 : 500)) / 1000;
}

/* Source of a job's operations; a job has only one. */
enum scribe_store_origin { SCRIBE_FROM_STREAM, SCRIBE_FROM_LOG };

#endif
