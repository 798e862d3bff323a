/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One compressed (or plain) stream: larger pieces are passed to a sink. Owns its buffers and the compressor's
 * state. The writer has one for its open region, the merge one per thread and module. Must not know files or
 * regions.
 */
#include "logfmt/file/pack.h"

#include <bzlib.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "logfmt/base/err.h"

#define OUT_BYTES   (256u << 10) /* per call of the sink, which writes */
#define PIECE_BYTES (512u << 10) /* plain bytes of a zlib stream */
#define IN_PART     (1u << 30)   /* bzip2 counts in 32 bits */
#define BZIP2_WORK  30           /* bzip2's default */
#define ZLIB_LEVEL  7            /* of libdeflate: smaller than zlib 6 in less time, docs/measurements.md */
#define ZSTD_LEVEL  6

struct scribe_pack {
	enum scribe_compression comp;
	scribe_pack_sink *sink;
	void *to;
	bool used, ended;
	struct libdeflate_compressor *deflate;
	bz_stream bz;
	ZSTD_CCtx *zstd;
	size_t have;
	size_t capacity;
	unsigned char *piece;
	unsigned char out[];
};

/* 0, or not: out of memory. */
static int begin(struct scribe_pack *p, int level)
{
	switch (p->comp) {
	case SCRIBE_COMP_ZLIB:
		p->deflate = libdeflate_alloc_compressor(level ? level : ZLIB_LEVEL);
		p->piece = malloc(PIECE_BYTES);
		return !p->deflate || !p->piece;
	case SCRIBE_COMP_BZIP2:
		return BZ2_bzCompressInit(&p->bz, level ? level : 9, 0, BZIP2_WORK);
	case SCRIBE_COMP_ZSTD:
		p->zstd = ZSTD_createCCtx();
		return !p->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel,
								       level ? level : ZSTD_LEVEL));
	case SCRIBE_COMP_NONE:
		break;
	}
	return 0;
}

struct scribe_pack *scribe_pack_new(enum scribe_compression comp, int level, scribe_pack_sink *sink, void *to)
{
	size_t capacity = comp == SCRIBE_COMP_ZLIB ? libdeflate_zlib_compress_bound(NULL, PIECE_BYTES) : OUT_BYTES;
	struct scribe_pack *p = malloc(sizeof(*p) + capacity);

	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->comp = comp;
	p->sink = sink;
	p->to = to;
	p->capacity = capacity;
	return begin(p, level) == 0 ? p : scribe_pack_free(p);
}

struct scribe_pack *scribe_pack_free(struct scribe_pack *p)
{
	if (!p)
		return NULL;
	libdeflate_free_compressor(p->deflate);
	ZSTD_freeCCtx(p->zstd);
	if (p->comp == SCRIBE_COMP_BZIP2)
		BZ2_bzCompressEnd(&p->bz);
	free(p->piece);
	free(p);
	return NULL;
}

static int flush_out(struct scribe_pack *p)
{
	size_t n = p->have;

	p->have = 0;
	return n ? p->sink(p->to, p->out, n) : 0;
}

static int end_piece(struct scribe_pack *p)
{
	/* libdeflate cannot stream, and a region may be any number of complete streams (docs/format.md). */
	size_t n = libdeflate_zlib_compress(p->deflate, p->piece, p->have, p->out, p->capacity);

	p->have = 0;
	p->ended = true;
	return n ? p->sink(p->to, p->out, n) : -SCRIBE_E_COMPRESSION;
}

/* Fills `buffer` and calls `full`, which empties it, at each `capacity` bytes. 0 or the sink's code. */
static int fill(struct scribe_pack *p, unsigned char *buffer, size_t capacity, int (*full)(struct scribe_pack *p),
		const void *bytes, size_t n)
{
	const char *from = bytes;
	int rc = 0;

	while (n > 0 && rc == 0) {
		size_t now = n < capacity - p->have ? n : capacity - p->have;

		memcpy(buffer + p->have, from, now);
		p->have += now;
		from += now;
		n -= now;
		if (p->have == capacity)
			rc = full(p);
	}
	return rc;
}

static int put_zstd(struct scribe_pack *p, const void *bytes, size_t n, ZSTD_EndDirective action)
{
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t left;
	int rc;

	do {
		ZSTD_outBuffer out = {p->out, p->capacity, p->have};

		left = ZSTD_compressStream2(p->zstd, &out, &in, action);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM
										       : -SCRIBE_E_COMPRESSION;
		p->have = out.pos;
		if (p->have == p->capacity && (rc = flush_out(p)))
			return rc;
	} while (in.pos < in.size || (action == ZSTD_e_end && left > 0));
	return 0;
}

/* BZ_RUN until the input is consumed, BZ_FINISH until the stream's end. */
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
		p->bz.avail_out = (unsigned)(p->capacity - p->have);
		rc = BZ2_bzCompress(&p->bz, action);
		if (rc < 0)
			return -SCRIBE_E_COMPRESSION;
		p->have = p->capacity - p->bz.avail_out;
		if (p->have == p->capacity && (sunk = flush_out(p)))
			return sunk;
	}
	return 0;
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
		return fill(p, p->piece, PIECE_BYTES, end_piece, bytes, n);
	case SCRIBE_COMP_BZIP2:
		return put_bzip2(p, bytes, n, BZ_RUN);
	case SCRIBE_COMP_ZSTD:
		return put_zstd(p, bytes, n, ZSTD_e_continue);
	default:
		return fill(p, p->out, p->capacity, flush_out, bytes, n);
	}
}

int scribe_pack_end(struct scribe_pack *p)
{
	int rc = 0;

	/* Without any bytes the result is a stream of nothing, because an empty region must still be valid. */
	if (p->comp == SCRIBE_COMP_ZLIB)
		return p->have || !p->ended ? end_piece(p) : 0;
	if (p->comp == SCRIBE_COMP_BZIP2)
		rc = put_bzip2(p, NULL, 0, BZ_FINISH);
	else if (p->comp == SCRIBE_COMP_ZSTD)
		rc = put_zstd(p, NULL, 0, ZSTD_e_end);
	return rc ? rc : flush_out(p);
}
