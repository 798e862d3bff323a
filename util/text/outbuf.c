// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered output to a descriptor or memory. The first error is kept until scribe_out_flush, so that callers
 * check once.
 */
#include "util/text/outbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "logfmt/file/names.h"

/* printf and reserved space may take at most a quarter of it. */
#define OUT_BUFFER (1u << 20)
#define WIDTH      78

int scribe_out_open(struct scribe_out *o, int fd, struct scribe_err *err)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->buf = malloc(OUT_BUFFER);
	if (!o->buf)
		return scribe_err_set(err, -ENOMEM, "output buffer: out of memory");
	o->cap = OUT_BUFFER;
	o->terminal = fd >= 0 && isatty(fd);
	return 0;
}

int scribe_out_open_memory(struct scribe_out *o, struct scribe_err *err)
{
	return scribe_out_open(o, -1, err);
}

static void put_raw(struct scribe_out *o, const char *at, size_t n)
{
	while (n && !o->error) {
		ssize_t got = write(o->fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			o->error = got < 0 ? errno : EIO;
			break;
		}
		at += got;
		n -= (size_t)got;
	}
}

static void put_out(struct scribe_out *o, const char *at, size_t n)
{
	char shown[4096];

	/* Names in a log may be any bytes, which could steer a terminal. */
	if (!o->terminal) {
		put_raw(o, at, n);
		return;
	}
	while (n) {
		size_t plain = 0, odd = 0;

		/* Line ends, tabs and existing escapes pass unchanged. */
		while (plain < n && (at[plain] == '\n' || at[plain] == '\t' || at[plain] == '\\'))
			plain++;
		put_raw(o, at, plain);
		at += plain;
		n -= plain;
		while (odd < n && odd < sizeof(shown) / 4 - 4 && at[odd] != '\n' && at[odd] != '\t' && at[odd] != '\\')
			odd++;
		/* Do not cut a UTF-8 character. */
		for (int back = 0; back < 3 && odd > 1 && odd < n && ((unsigned char)at[odd] & 0xc0) == 0x80; back++)
			odd--;
		put_raw(o, shown, scribe_name_escape(at, odd, shown, sizeof(shown)));
		at += odd;
		n -= odd;
	}
}

static void grow(struct scribe_out *o)
{
	char *bigger = realloc(o->buf, 2 * o->cap);

	if (bigger) {
		o->buf = bigger;
		o->cap *= 2;
		return;
	}
	o->error = ENOMEM; /* the text is lost, and flush reports it */
	o->len = 0;
}

static void empty(struct scribe_out *o)
{
	if (o->fd < 0) {
		grow(o);
		return;
	}
	put_out(o, o->buf, o->len);
	o->len = 0;
}

int scribe_out_flush(struct scribe_out *o, struct scribe_err *err)
{
	if (o->fd >= 0)
		empty(o);
	if (!o->error)
		return 0;
	return scribe_err_set(err, -o->error, "cannot write the output: %s", strerror(o->error));
}

void scribe_out_close(struct scribe_out *o)
{
	free(o->buf);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

int scribe_out_fit(struct scribe_out *o, size_t n, struct scribe_err *err)
{
	char *bigger;

	if (n <= o->cap / 2)
		return 0;
	bigger = realloc(o->buf, 2 * n);
	if (!bigger)
		return scribe_err_set(err, -ENOMEM, "output line of %zu bytes: out of memory", n);
	o->buf = bigger;
	o->cap = 2 * n;
	return 0;
}

char *scribe_out_room(struct scribe_out *o, size_t n)
{
	if (o->cap - o->len < n)
		empty(o);
	return o->buf + o->len;
}

void scribe_out_bytes(struct scribe_out *o, const void *bytes, size_t n)
{
	while (o->fd < 0 && o->cap - o->len < n && !o->error)
		grow(o);
	if (n > o->cap / 4 && o->fd >= 0) { /* large pieces are not copied */
		empty(o);
		put_out(o, bytes, n);
		return;
	}
	if (o->cap - o->len < n && o->error)
		return;
	memcpy(scribe_out_room(o, n), bytes, n);
	o->len += n;
}

void scribe_out_text(struct scribe_out *o, const char *text)
{
	scribe_out_bytes(o, text, strlen(text));
}

void scribe_out_printf(struct scribe_out *o, const char *fmt, ...)
{
	size_t capacity = o->cap / 4;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(scribe_out_room(o, capacity), capacity, fmt, args);
	va_end(args);
	if (n < 0) {
		o->error = o->error ? o->error : EINVAL;
		return;
	}
	o->len += (size_t)n < capacity ? (size_t)n : capacity - 1;
}

void scribe_out_wrapped(struct scribe_out *o, const char *lead, const char *text)
{
	const size_t indent = strlen(lead);
	size_t column = indent;

	scribe_out_text(o, lead);
	while (*text) {
		const size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > WIDTH) {
			scribe_out_printf(o, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			scribe_out_text(o, " ");
			column++;
		}
		scribe_out_bytes(o, text, word);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	scribe_out_text(o, "\n");
}
