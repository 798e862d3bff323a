/* SPDX-License-Identifier: BSD-3-Clause */
/* One compressed stream, or plain bytes in larger pieces. Knows neither files nor regions. */
#include "logfmt/file/pack.h"

#include <bzlib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "logfmt/base/err.h"

#define OUT_BYTES  (256u << 10)
#define IN_PART    (1u << 30) /* at once, for interfaces that count in 32 bits */
#define BZIP2_WORK 30

struct scribe_pack {
	enum scribe_compression comp;
	scribe_pack_sink *sink;
	void *to;
	bool used;
	z_stream z;
	bz_stream bz;
	size_t have; /* in `out` */
	unsigned char out[OUT_BYTES];
};

struct scribe_pack *scribe_pack_new(enum scribe_compression comp, int level, scribe_pack_sink *sink, void *to)
{
	struct scribe_pack *p = malloc(sizeof(*p));
	int rc = 0;

	if (!p)
		return NULL;
	memset(p, 0, offsetof(struct scribe_pack, out));
	p->comp = comp;
	p->sink = sink;
	p->to = to;
	if (comp == SCRIBE_COMP_ZLIB)
		rc = deflateInit(&p->z, level ? level : Z_DEFAULT_COMPRESSION);
	else if (comp == SCRIBE_COMP_BZIP2)
		rc = BZ2_bzCompressInit(&p->bz, level ? level : 9, 0, BZIP2_WORK);
	if (rc) {
		free(p);
		return NULL;
	}
	return p;
}

struct scribe_pack *scribe_pack_free(struct scribe_pack *p)
{
	if (!p)
		return NULL;
	if (p->comp == SCRIBE_COMP_ZLIB)
		deflateEnd(&p->z);
	else if (p->comp == SCRIBE_COMP_BZIP2)
		BZ2_bzCompressEnd(&p->bz);
	free(p);
	return NULL;
}

static int flush_out(struct scribe_pack *p)
{
	size_t n = p->have;

	p->have = 0;
	return n ? p->sink(p->to, p->out, n) : 0;
}

static int put_zlib(struct scribe_pack *p, const void *bytes, size_t n, int flush)
{
	int rc = Z_OK, sunk = 0;

	p->z.next_in = (Bytef *)(uintptr_t)bytes;
	while (n > 0 || p->z.avail_in > 0 || (flush == Z_FINISH && rc != Z_STREAM_END)) {
		if (p->z.avail_in == 0) {
			p->z.avail_in = n > IN_PART ? IN_PART : (uInt)n;
			n -= p->z.avail_in;
		}
		p->z.next_out = p->out + p->have;
		p->z.avail_out = (uInt)(OUT_BYTES - p->have);
		rc = deflate(&p->z, n == 0 ? flush : Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return -SCRIBE_E_COMPRESSION;
		p->have = OUT_BYTES - p->z.avail_out;
		if (p->have == OUT_BYTES && (sunk = flush_out(p)))
			return sunk;
	}
	return 0;
}

static int put_bzip2(struct scribe_pack *p, const void *bytes, size_t n, int action)
{
	int rc = BZ_RUN_OK, sunk = 0;

	p->bz.next_in = (char *)(uintptr_t)bytes;
	while (n > 0 || p->bz.avail_in > 0 || (action == BZ_FINISH && rc != BZ_STREAM_END)) {
		if (p->bz.avail_in == 0) {
			p->bz.avail_in = n > IN_PART ? IN_PART : (unsigned)n;
			n -= p->bz.avail_in;
		}
		p->bz.next_out = (char *)p->out + p->have;
		p->bz.avail_out = (unsigned)(OUT_BYTES - p->have);
		rc = BZ2_bzCompress(&p->bz, action);
		if (rc < 0)
			return -SCRIBE_E_COMPRESSION;
		p->have = OUT_BYTES - p->bz.avail_out;
		if (p->have == OUT_BYTES && (sunk = flush_out(p)))
			return sunk;
	}
	return 0;
}

static int put_plain(struct scribe_pack *p, const void *bytes, size_t n)
{
	const char *from = bytes;
	int rc = 0;

	while (n > 0 && rc == 0) {
		size_t room = OUT_BYTES - p->have, now = n < room ? n : room;

		memcpy(p->out + p->have, from, now);
		p->have += now;
		from += now;
		n -= now;
		if (p->have == OUT_BYTES)
			rc = flush_out(p);
	}
	return rc;
}

bool scribe_pack_is_used(const struct scribe_pack *p)
{
	return p->used;
}

int scribe_pack_put(struct scribe_pack *p, const void *bytes, size_t n)
{
	p->used = true;
	switch (p->comp) {
	case SCRIBE_COMP_ZLIB:
		return put_zlib(p, bytes, n, Z_NO_FLUSH);
	case SCRIBE_COMP_BZIP2:
		return put_bzip2(p, bytes, n, BZ_RUN);
	default:
		return put_plain(p, bytes, n);
	}
}

int scribe_pack_end(struct scribe_pack *p)
{
	int rc = 0;

	if (p->comp == SCRIBE_COMP_ZLIB)
		rc = put_zlib(p, NULL, 0, Z_FINISH);
	else if (p->comp == SCRIBE_COMP_BZIP2)
		rc = put_bzip2(p, NULL, 0, BZ_FINISH);
	return rc ? rc : flush_out(p);
}
