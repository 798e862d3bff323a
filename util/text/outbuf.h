/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output through one large buffer. Errors are kept and told once, at the flush:
 * a printer need not look after every line.
 */
#ifndef UTIL_TEXT_OUTBUF_H
#define UTIL_TEXT_OUTBUF_H

#include <stddef.h>
#include <string.h>

#include "logfmt/base/err.h"

struct scribe_out {
	int fd;       /* -1: memory */
	int error;    /* errno of the first failed write, 0 none */
	int terminal; /* 1: fd is one, and bytes that would steer it are shown as \x1b */
	char *buf;
	size_t len;
	size_t cap;
};

/* Buffer for `fd`, which stays the caller's. 0, or -ENOMEM with a message. */
int scribe_out_open(struct scribe_out *o, int fd, struct scribe_err *err);

/* The same, but everything stays in memory: o->buf, o->len. */
int scribe_out_open_memory(struct scribe_out *o, struct scribe_err *err);

/* Write out what is held. 0, or a negative errno with a message. */
int scribe_out_flush(struct scribe_out *o, struct scribe_err *err);

/* Give the buffer back; what was not flushed is dropped. Survives a zeroed struct. */
void scribe_out_close(struct scribe_out *o);

/* Let pieces of up to `n` bytes fit. 0, or -ENOMEM with a message. */
int scribe_out_fit(struct scribe_out *o, size_t n, struct scribe_err *err);

/* Make room for `n` bytes (256 KiB, or what scribe_out_fit made fit); where they go. */
char *scribe_out_room(struct scribe_out *o, size_t n);

/* The bytes up to `end` (from scribe_out_room's place on) are output. */
static inline void scribe_out_done(struct scribe_out *o, const char *end)
{
	o->len = (size_t)(end - o->buf);
}

void scribe_out_bytes(struct scribe_out *o, const void *bytes, size_t n);
void scribe_out_text(struct scribe_out *o, const char *text);
void scribe_out_printf(struct scribe_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
