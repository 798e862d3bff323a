/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompression of a region: zlib or bzip2 streams one after another, or plain
 * bytes. Knows nothing of records.
 */
#include "logfmt/stream.h"

#include <bzlib.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define IN_BYTES (64u << 10)
#define OUT_BYTES (256u << 10)
#define OUT_SLACK 8 /* a NUL may be read behind the last byte */

struct scribe_stream {
	int fd;
	enum scribe_compression comp;
	const char *label, *region;
	uint64_t file_off, file_left; /* input not yet read */
	uint64_t plain, plain_limit;  /* bytes produced, and how many there may be */
	uint64_t taken;               /* plain bytes the reader has passed */
	unsigned char *in;
	size_t in_at, in_have;
	unsigned char *out;
	size_t out_at, out_have, out_room;
	bool started; /* a compressed stream is begun and not ended */
	bool ended;   /* no more plain bytes will come */
	bool has_z;
	z_stream z;
	bz_stream bz;
};

struct scribe_stream *scribe_stream_new(int fd, const char *label, const char *region, uint64_t off,
					uint64_t len, enum scribe_compression comp)
{
	struct scribe_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct scribe_stream){.fd = fd, .comp = comp, .label = label, .region = region};
	s->file_off = off;
	s->file_left = len;
	s->plain_limit = len > UINT64_MAX / SCRIBE_MAX_EXPANSION ? UINT64_MAX : len * SCRIBE_MAX_EXPANSION;
	if (s->plain_limit < SCRIBE_FREE_EXPANSION)
		s->plain_limit = SCRIBE_FREE_EXPANSION;
	s->out_room = OUT_BYTES;
	s->out = malloc(s->out_room + OUT_SLACK);
	if (comp != SCRIBE_COMP_NONE)
		s->in = malloc(IN_BYTES);
	if (!s->out || (comp != SCRIBE_COMP_NONE && !s->in))
		return scribe_stream_free(s);
	if (comp == SCRIBE_COMP_ZLIB) {
		if (inflateInit(&s->z) != Z_OK)
			return scribe_stream_free(s);
		s->has_z = true;
	}
	return s;
}

struct scribe_stream *scribe_stream_free(struct scribe_stream *s)
{
	if (!s)
		return NULL;
	if (s->has_z)
		inflateEnd(&s->z);
	if (s->comp == SCRIBE_COMP_BZIP2 && s->started)
		BZ2_bzDecompressEnd(&s->bz);
	free(s->in);
	free(s->out);
	free(s);
	return NULL;
}

int scribe_stream_error(const struct scribe_stream *s, struct scribe_err *err, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return scribe_err_set(err, code, "%.160s: %s region (file offset %llu, plain byte %llu): %s", s->label,
			      s->region, (unsigned long long)(s->file_off - (s->in_have - s->in_at)),
			      (unsigned long long)s->taken, text);
}

/* Read up to `cap` bytes of the region. 0 with *ret_n == 0: the region's end. */
static int read_some(struct scribe_stream *s, void *buf, size_t cap, size_t *ret_n, struct scribe_err *err)
{
	ssize_t n;

	if (cap > s->file_left)
		cap = s->file_left;
	*ret_n = 0;
	if (cap == 0)
		return 0;
	do {
		n = pread(s->fd, buf, cap, (off_t)s->file_off);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		int code = -errno;

		return scribe_stream_error(s, err, code, "cannot read: %s", strerror(-code));
	}
	if (n == 0)
		return scribe_stream_error(s, err, -SCRIBE_E_TRUNCATED,
					   "the file ends %llu bytes before the region does",
					   (unsigned long long)s->file_left);
	s->file_off += (uint64_t)n;
	s->file_left -= (uint64_t)n;
	*ret_n = (size_t)n;
	return 0;
}

static int refill(struct scribe_stream *s, struct scribe_err *err)
{
	size_t n;
	int rc;

	if (s->in_at < s->in_have)
		return 0;
	s->in_at = s->in_have = 0;
	rc = read_some(s, s->in, IN_BYTES, &n, err);
	s->in_have = n;
	return rc;
}

/* One call of inflate; a stream's end makes the next bytes a new stream. */
static int step_zlib(struct scribe_stream *s, unsigned char *to, size_t room, size_t *ret_n,
		     struct scribe_err *err)
{
	int rc;

	if (!s->started) {
		if (inflateReset(&s->z) != Z_OK)
			return scribe_stream_error(s, err, -SCRIBE_E_COMPRESSION, "zlib refuses to start");
		s->started = true;
	}
	s->z.next_in = s->in + s->in_at;
	s->z.avail_in = (unsigned)(s->in_have - s->in_at);
	s->z.next_out = to;
	s->z.avail_out = (unsigned)(room > UINT32_MAX ? UINT32_MAX : room);
	rc = inflate(&s->z, Z_NO_FLUSH);
	*ret_n = (size_t)(s->z.next_out - to);
	s->in_at = s->in_have - s->z.avail_in;
	if (rc == Z_STREAM_END) {
		s->started = false;
		return 0;
	}
	if (rc == Z_MEM_ERROR)
		return scribe_stream_error(s, err, -ENOMEM, "out of memory");
	if (rc != Z_OK && rc != Z_BUF_ERROR)
		return scribe_stream_error(s, err, -SCRIBE_E_COMPRESSION, "zlib data are damaged (%s)",
					   s->z.msg ? s->z.msg : "no detail");
	return 0;
}

static int step_bzip2(struct scribe_stream *s, unsigned char *to, size_t room, size_t *ret_n,
		      struct scribe_err *err)
{
	int rc;

	if (!s->started) {
		memset(&s->bz, 0, sizeof(s->bz));
		if (BZ2_bzDecompressInit(&s->bz, 0, 0) != BZ_OK)
			return scribe_stream_error(s, err, -ENOMEM, "out of memory");
		s->started = true;
	}
	s->bz.next_in = (char *)s->in + s->in_at;
	s->bz.avail_in = (unsigned)(s->in_have - s->in_at);
	s->bz.next_out = (char *)to;
	s->bz.avail_out = (unsigned)(room > UINT32_MAX ? UINT32_MAX : room);
	rc = BZ2_bzDecompress(&s->bz);
	*ret_n = (size_t)((unsigned char *)s->bz.next_out - to);
	s->in_at = s->in_have - s->bz.avail_in;
	if (rc == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(&s->bz);
		s->started = false;
		return 0;
	}
	if (rc == BZ_MEM_ERROR)
		return scribe_stream_error(s, err, -ENOMEM, "out of memory");
	if (rc != BZ_OK)
		return scribe_stream_error(s, err, -SCRIBE_E_COMPRESSION, "bzip2 data are damaged (%d)", rc);
	return 0;
}

/* Produce some plain bytes at the window's end; sets `ended` when there are none. */
static int produce(struct scribe_stream *s, struct scribe_err *err)
{
	unsigned char *to = s->out + s->out_have;
	size_t room = s->out_room - s->out_have;
	size_t n = 0, was;
	int rc;

	if (s->comp == SCRIBE_COMP_NONE) {
		rc = read_some(s, to, room, &n, err);
		s->out_have += n;
		s->ended = rc == 0 && n == 0;
		return rc;
	}
	rc = refill(s, err);
	if (rc)
		return rc;
	if (s->in_at == s->in_have && !s->started) {
		s->ended = true;
		return 0;
	}
	was = s->in_at;
	rc = s->comp == SCRIBE_COMP_ZLIB ? step_zlib(s, to, room, &n, err) : step_bzip2(s, to, room, &n, err);
	if (rc)
		return rc;
	if (n == 0 && s->in_at == was && s->started && s->in_have == 0)
		return scribe_stream_error(s, err, -SCRIBE_E_TRUNCATED,
					   "the region ends inside compressed data");
	s->plain += n;
	if (s->plain > s->plain_limit)
		return scribe_stream_error(s, err, -SCRIBE_E_LIMIT,
					   "expands beyond %llu bytes: not a plausible log",
					   (unsigned long long)s->plain_limit);
	s->out_have += n;
	return 0;
}

/* Make room behind the window's bytes for a piece of `n`: move down, else grow by doubling. */
static int make_room(struct scribe_stream *s, size_t n, struct scribe_err *err)
{
	unsigned char *out;
	size_t room;

	if (s->out_at > 0) {
		memmove(s->out, s->out + s->out_at, s->out_have - s->out_at);
		s->out_have -= s->out_at;
		s->out_at = 0;
	}
	if (s->out_have < s->out_room)
		return 0;
	room = s->out_room * 2 < n ? s->out_room * 2 : n;
	if (room <= s->out_room)
		room = s->out_room + OUT_BYTES;
	out = realloc(s->out, room + OUT_SLACK);
	if (!out)
		return scribe_stream_error(s, err, -ENOMEM, "out of memory for %zu bytes", room);
	s->out = out;
	s->out_room = room;
	return 0;
}

int scribe_stream_need(struct scribe_stream *s, size_t n, const void **ret_p, size_t *ret_avail,
		       struct scribe_err *err)
{
	while (s->out_have - s->out_at < n && !s->ended) {
		int rc = 0;

		if (s->out_have == s->out_room || (s->out_at == s->out_have && s->out_at > 0))
			rc = make_room(s, n, err);
		if (rc == 0)
			rc = produce(s, err);
		if (rc)
			return rc;
	}
	*ret_p = s->out + s->out_at;
	*ret_avail = s->out_have - s->out_at;
	return 0;
}

void scribe_stream_skip(struct scribe_stream *s, size_t n)
{
	s->out_at += n;
	s->taken += n;
}
