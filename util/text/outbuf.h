/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors are reported only by flush. */
#ifndef UTIL_TEXT_OUTBUF_H
#define UTIL_TEXT_OUTBUF_H

#include <stddef.h>
#include <string.h>

#include "logfmt/base/err.h"

struct scribe_out {
	int fd;       /* -1: memory */
	int error;    /* errno of the first failure; 0: none */
	int terminal; /* 1: control characters are escaped */
	char *buf;
	size_t len;
	size_t cap;
};

/* The caller closes fd. 0 or -ENOMEM. */
int scribe_out_open(struct scribe_out *o, int fd, struct scribe_err *err);

/* Keeps everything in memory: o->buf, o->len. */
int scribe_out_open_memory(struct scribe_out *o, struct scribe_err *err);

/* Returns the first error since opening. */
int scribe_out_flush(struct scribe_out *o, struct scribe_err *err);

/* Frees the buffer without flushing. Accepts a zeroed struct. */
void scribe_out_close(struct scribe_out *o);

/* Allows pieces of up to `n` bytes. 0 or -ENOMEM. */
int scribe_out_fit(struct scribe_out *o, size_t n, struct scribe_err *err);

/* Reserves `n` bytes: up to 256 KiB, or the size given to scribe_out_fit. */
char *scribe_out_room(struct scribe_out *o, size_t n);

static inline void scribe_out_done(struct scribe_out *o, const char *end)
{
	o->len = (size_t)(end - o->buf);
}

void scribe_out_bytes(struct scribe_out *o, const void *bytes, size_t n);
void scribe_out_text(struct scribe_out *o, const char *text);
void scribe_out_printf(struct scribe_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Lines of at most 78 columns: `lead`, then `text`; further lines are indented by the length of `lead`. */
void scribe_out_wrapped(struct scribe_out *o, const char *lead, const char *text);

#endif
