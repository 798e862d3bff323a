/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors: functions return 0 or a negative code; the caller's struct scribe_err receives the text. */
#ifndef LOGFMT_BASE_ERR_H
#define LOGFMT_BASE_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, code, text): codes besides -errno, returned negated. */
#define SCRIBE_ERRORS(X) \
	X(FORMAT, 4000, "not a log in Darshan's format, or damaged") \
	X(TRUNCATED, 4001, "the file ends too early") \
	X(COMPRESSION, 4002, "compressed data are damaged") \
	X(VERSION, 4003, "a version newer than this program knows") \
	X(LIMIT, 4004, "a size is beyond the limit") \
	X(ORDER, 4005, "calls out of order") \
	X(BUFFER, 4006, "the buffer is too small") \
	X(UNSUPPORTED, 4007, "not supported") \
	X(PROTOCOL, 4008, "unexpected message") \
	X(DEADLINE, 4009, "the deadline passed") \
	X(KERNEL, 4010, "the kernel lacks what is needed") \
	X(STATE, 4011, "not possible in this state") \
	X(REFUSED, 4012, "a value that the database refuses")

enum scribe_error {
#define SCRIBE_X(name, code, text) SCRIBE_E_##name = code,
	SCRIBE_ERRORS(SCRIBE_X)
#undef SCRIBE_X
};

struct scribe_err {
	int code;
	char text[512];
};

/* Returns `code`. `e` may be NULL; control characters are escaped. */
int scribe_err_set(struct scribe_err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Never NULL. */
const char *scribe_strerror(int code);

#ifdef __cplusplus
}
#endif

#endif
