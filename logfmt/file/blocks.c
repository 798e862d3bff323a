/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of transposed records (docs/format.md, "The single-region layout", filter 1): equal bytes of many records
 * become neighbours and compress to about half. Owns the stream below and one block of 1 MiB. Must not know the
 * contents of records.
 */
#include "logfmt/file/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/log_types.h"
#include "logfmt/file/unified.h"

#define PIECE (64u << 10) /* bytes of a long record per read */

struct blocks {
	struct scribe_region_stream *plain;
	bool swapped;
	unsigned char *block; /* restored */
	size_t at, have;      /* of `block`: bytes passed on, bytes present */
	uint64_t left;        /* bytes of a record alone in its block, not passed on yet */
};

void scribe_block_transpose(const unsigned char *records, size_t n, size_t stride, unsigned char *ret_columns)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < stride; k++)
			ret_columns[k * n + i] = records[i * stride + k];
}

void scribe_block_restore(const unsigned char *columns, size_t n, size_t stride, unsigned char *ret_records)
{
	scribe_block_transpose(columns, stride, n, ret_records);
}

static void blocks_free(void *from)
{
	struct blocks *b = from;

	scribe_region_stream_free(b->plain);
	free(b->block);
	free(b);
}

static const struct scribe_region_stream *blocks_below(const void *from)
{
	/* Messages give the offset in the file, which only the innermost stream has. */
	return ((const struct blocks *)from)->plain;
}

static int check_head(const struct blocks *b, const struct scribe_block_head *h, struct scribe_err *err)
{
	/* Several records must fit the buffer. A single record is not transposed and may have any record's length. */
	const size_t most = SCRIBE_MAX_RECORD_BYTES + sizeof(struct scribe_unified_base);

	if (h->count == 0 || h->stride < sizeof(struct scribe_unified_base) || h->stride > most ||
	    (h->count > 1 && (uint64_t)h->count * h->stride > SCRIBE_BLOCK_BYTES))
		return scribe_region_stream_error(b->plain, err, -SCRIBE_E_LIMIT,
						  "a block of %u records of %u bytes, at most %u bytes in all",
						  h->count, h->stride, SCRIBE_BLOCK_BYTES);
	return 0;
}

/* Restores a block, or for a single record sets only b->left. Changes neither at the region's end. */
static int next_block(struct blocks *b, struct scribe_err *err)
{
	struct scribe_block_head h;
	const void *p;
	size_t avail, n;
	int rc = scribe_region_stream_need(b->plain, sizeof(h), &p, &avail, err);

	if (rc || avail == 0)
		return rc;
	if (avail < sizeof(h))
		return scribe_region_stream_error(b->plain, err, -SCRIBE_E_TRUNCATED, "ends in the middle of a block");
	memcpy(&h, p, sizeof(h));
	scribe_region_stream_skip(b->plain, sizeof(h));
	if (b->swapped)
		h = (struct scribe_block_head){__builtin_bswap32(h.count), __builtin_bswap32(h.stride)};
	rc = check_head(b, &h, err);
	if (rc)
		return rc;
	if (h.count == 1) {
		b->left = h.stride;
		return 0;
	}
	n = (size_t)h.count * h.stride;
	rc = scribe_region_stream_need(b->plain, n, &p, &avail, err);
	if (rc)
		return rc;
	if (avail < n)
		return scribe_region_stream_error(b->plain, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a block (%zu of %zu bytes)", avail, n);
	scribe_block_restore(p, h.count, h.stride, b->block);
	scribe_region_stream_skip(b->plain, n);
	b->at = 0;
	b->have = n;
	return 0;
}

static int read_single(struct blocks *b, void *to, size_t capacity, size_t *ret_n, struct scribe_err *err)
{
	size_t want = b->left < capacity ? (size_t)b->left : capacity, avail;
	/* The length is from the file: memory must grow only with bytes that were really read. */
	const void *p;
	int rc = scribe_region_stream_need(b->plain, want < PIECE ? want : PIECE, &p, &avail, err);

	if (rc)
		return rc;
	if (avail == 0)
		return scribe_region_stream_error(b->plain, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a block (%llu bytes missing)",
						  (unsigned long long)b->left);
	*ret_n = avail < want ? avail : want;
	memcpy(to, p, *ret_n);
	scribe_region_stream_skip(b->plain, *ret_n);
	b->left -= *ret_n;
	return 0;
}

static int blocks_read(void *from, void *to, size_t capacity, size_t *ret_n, struct scribe_err *err)
{
	struct blocks *b = from;
	int rc = b->left || b->at < b->have ? 0 : next_block(b, err);

	*ret_n = 0;
	if (rc)
		return rc;
	if (b->left)
		return read_single(b, to, capacity, ret_n, err);
	*ret_n = b->have - b->at < capacity ? b->have - b->at : capacity;
	memcpy(to, b->block + b->at, *ret_n);
	b->at += *ret_n;
	return 0;
}

static const struct scribe_region_supply blocks_supply = {
	.read = blocks_read, .below = blocks_below, .free = blocks_free};

struct scribe_region_stream *scribe_blocks_stream(struct scribe_region_stream *plain, bool swapped, const char *label,
						  const char *region)
{
	struct blocks *b = plain ? calloc(1, sizeof(*b)) : NULL;

	if (!b) {
		scribe_region_stream_free(plain);
		return NULL;
	}
	b->plain = plain;
	b->swapped = swapped;
	b->block = malloc(SCRIBE_BLOCK_BYTES);
	if (!b->block) {
		blocks_free(b);
		return NULL;
	}
	return scribe_region_stream_from(&blocks_supply, b, label, region);
}
