/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region's plain bytes in a window: from the file, through a decompressor, or from another supply. Owns its
 * buffers and supply, not the descriptor. Must not know records.
 */
#include "logfmt/file/region_stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/file/unpack.h"

#define IN_BYTES  (64u << 10)  /* compressed bytes per pread */
#define OUT_BYTES (256u << 10) /* of the window at first */
#define OUT_SLACK 8            /* for a NUL after the last byte */

struct scribe_region_stream {
	int fd;
	enum scribe_compression comp;
	const char *label, *region;
	uint64_t file_off, file_left; /* of input not read yet */
	uint64_t plain, plain_limit;  /* bytes produced, and their limit */
	uint64_t taken;               /* plain bytes skipped by the reader */
	unsigned char *in;
	size_t in_at, in_have;
	unsigned char *out;
	size_t out_at, out_have, out_capacity;
	bool ended;                                /* the window holds the last bytes */
	struct scribe_unpack *unpack;              /* NULL: not compressed */
	const struct scribe_region_supply *supply; /* used instead of the file */
	void *from;
};

struct scribe_region_stream *scribe_region_stream_new(int fd, const char *label, const char *region, uint64_t off,
						      uint64_t len, enum scribe_compression comp)
{
	struct scribe_region_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct scribe_region_stream){.fd = fd, .comp = comp, .label = label, .region = region};
	s->file_off = off;
	s->file_left = len;
	/* Against small files that expand without bound. 64 MiB are allowed in any case. */
	s->plain_limit = len > UINT64_MAX / SCRIBE_MAX_EXPANSION ? UINT64_MAX : len * SCRIBE_MAX_EXPANSION;
	if (s->plain_limit < SCRIBE_FREE_EXPANSION)
		s->plain_limit = SCRIBE_FREE_EXPANSION;
	s->out_capacity = OUT_BYTES;
	s->out = malloc(s->out_capacity + OUT_SLACK);
	if (comp != SCRIBE_COMP_NONE) {
		s->in = malloc(IN_BYTES);
		s->unpack = scribe_unpack_new(comp);
	}
	if (!s->out || (comp != SCRIBE_COMP_NONE && (!s->in || !s->unpack)))
		return scribe_region_stream_free(s);
	return s;
}

struct scribe_region_stream *scribe_region_stream_from(const struct scribe_region_supply *supply, void *from,
						       const char *label, const char *region)
{
	struct scribe_region_stream *s = calloc(1, sizeof(*s));

	if (s)
		s->out = malloc(OUT_BYTES + OUT_SLACK);
	if (!s || !s->out) {
		free(s);
		supply->free(from);
		return NULL;
	}
	s->fd = -1;
	s->comp = SCRIBE_COMP_NONE;
	s->label = label;
	s->region = region;
	s->out_capacity = OUT_BYTES;
	s->supply = supply;
	s->from = from;
	return s;
}

void *scribe_region_stream_supplier(const struct scribe_region_stream *s, const struct scribe_region_supply *supply)
{
	return s->supply == supply ? s->from : NULL;
}

/* Bytes of the current record that are not in the window yet. */
static uint64_t record_left(const struct scribe_region_stream *s)
{
	return s->supply && s->supply->left ? s->supply->left(s->from) : 0;
}

bool scribe_region_stream_mid_record(const struct scribe_region_stream *s)
{
	return s->supply && s->supply->left && (record_left(s) > 0 || s->out_at < s->out_have);
}

struct scribe_region_stream *scribe_region_stream_free(struct scribe_region_stream *s)
{
	if (!s)
		return NULL;
	if (s->supply)
		s->supply->free(s->from);
	scribe_unpack_free(s->unpack);
	free(s->in);
	free(s->out);
	free(s);
	return NULL;
}

/* The innermost stream, which reads the file. */
static const struct scribe_region_stream *origin(const struct scribe_region_stream *s)
{
	const struct scribe_region_stream *below;

	while (s->supply && (below = s->supply->below(s->from)))
		s = below;
	return s;
}

int scribe_region_stream_error(const struct scribe_region_stream *s, struct scribe_err *err, int code, const char *fmt,
			       ...)
{
	const struct scribe_region_stream *at = origin(s);
	char text[256];
	/* Two positions: compressed bytes read from the file, and where the current record or name starts, inflated. */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return scribe_err_set(err, code, "%.160s: %s region (file offset %llu, plain byte %llu): %s", s->label,
			      s->region, (unsigned long long)(at->file_off - (at->in_have - at->in_at)),
			      (unsigned long long)s->taken, text);
}

/* 0 with *ret_n == 0: the region's end. */
static int read_some(struct scribe_region_stream *s, void *buf, size_t cap, size_t *ret_n, struct scribe_err *err)
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

		return scribe_region_stream_error(s, err, code, "cannot read: %s", strerror(-code));
	}
	if (n == 0)
		return scribe_region_stream_error(s, err, -SCRIBE_E_TRUNCATED,
						  "the file ends %llu bytes before the region does",
						  (unsigned long long)s->file_left);
	s->file_off += (uint64_t)n;
	s->file_left -= (uint64_t)n;
	*ret_n = (size_t)n;
	return 0;
}

static int refill(struct scribe_region_stream *s, struct scribe_err *err)
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

static bool record_complete(const struct scribe_region_stream *s)
{
	return s->supply && s->supply->left && record_left(s) == 0 && s->out_at < s->out_have;
}

static int produce_unpacked(struct scribe_region_stream *s, unsigned char *to, size_t capacity, size_t *ret_n,
			    struct scribe_err *err)
{
	char why[SCRIBE_UNPACK_WHY];
	size_t taken;
	int rc = refill(s, err);

	if (rc)
		return rc;
	/* A region may be several streams: an end between two is the region's end, one inside is an error. */
	if (s->in_at == s->in_have && !scribe_unpack_is_within(s->unpack)) {
		s->ended = true;
		return 0;
	}
	rc = scribe_unpack_step(s->unpack, s->in + s->in_at, s->in_have - s->in_at, &taken, to, capacity, ret_n, why);
	s->in_at += taken;
	if (rc)
		return scribe_region_stream_error(s, err, rc, "%s", why);
	if (*ret_n == 0 && taken == 0 && scribe_unpack_is_within(s->unpack) && s->in_have == 0)
		return scribe_region_stream_error(s, err, -SCRIBE_E_TRUNCATED,
						  "the region ends inside compressed data");
	s->plain += *ret_n;
	if (s->plain > s->plain_limit)
		return scribe_region_stream_error(s, err, -SCRIBE_E_LIMIT,
						  "expands beyond %llu bytes: not a plausible log",
						  (unsigned long long)s->plain_limit);
	return 0;
}

/* Adds bytes to the window; sets `ended` if there are none. */
static int produce(struct scribe_region_stream *s, struct scribe_err *err)
{
	unsigned char *to = s->out + s->out_have;
	size_t capacity = s->out_capacity - s->out_have;
	size_t n = 0;
	int rc;

	if (s->unpack) {
		rc = produce_unpacked(s, to, capacity, &n, err);
	} else {
		rc = s->supply ? s->supply->read(s->from, to, capacity, &n, err) : read_some(s, to, capacity, &n, err);
		s->ended = rc == 0 && n == 0;
	}
	if (rc == 0)
		s->out_have += n;
	return rc;
}

static int make_room(struct scribe_region_stream *s, size_t n, struct scribe_err *err)
{
	unsigned char *out;
	size_t capacity;

	if (s->out_at > 0) {
		memmove(s->out, s->out + s->out_at, s->out_have - s->out_at);
		s->out_have -= s->out_at;
		s->out_at = 0;
	}
	if (s->out_have < s->out_capacity)
		return 0;
	/* Doubled and limited to `n`: memory follows bytes that really exist, not a length that the file claims. */
	capacity = s->out_capacity * 2 < n ? s->out_capacity * 2 : n;
	if (capacity <= s->out_capacity)
		capacity = s->out_capacity + OUT_BYTES;
	out = realloc(s->out, capacity + OUT_SLACK);
	if (!out)
		return scribe_region_stream_error(s, err, -ENOMEM, "out of memory for %zu bytes", capacity);
	s->out = out;
	s->out_capacity = capacity;
	return 0;
}

int scribe_region_stream_need(struct scribe_region_stream *s, size_t n, const void **ret_p, size_t *ret_avail,
			      struct scribe_err *err)
{
	/* Ends early at a complete record, because a piece must not hold bytes of two records. */
	while (s->out_have - s->out_at < n && !s->ended && !record_complete(s)) {
		int rc = 0;

		if (s->out_have == s->out_capacity || (s->out_at == s->out_have && s->out_at > 0))
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

int scribe_region_stream_need_record(struct scribe_region_stream *s, const void **ret_p, size_t *ret_avail,
				     struct scribe_err *err)
{
	int rc = scribe_region_stream_need(s, 1, ret_p, ret_avail, err);

	if (rc || *ret_avail == 0)
		return rc;
	return scribe_region_stream_need(s, *ret_avail + (size_t)record_left(s), ret_p, ret_avail, err);
}

void scribe_region_stream_skip(struct scribe_region_stream *s, size_t n)
{
	s->out_at += n;
	s->taken += n;
}
