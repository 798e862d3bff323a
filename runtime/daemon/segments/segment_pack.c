/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs segments of DXT: a byte of flags, then the changed values as numbers of 7 bits per byte. Unpacking runs
 * in the log builder.
 */
#include "runtime/daemon/segments/segment_pack.h"

#include <stdbool.h>

/* SAME_PLACE: it begins at the end of its predecessor. */
enum same { SAME_PLACE = 1 << 0, SAME_BYTES = 1 << 1, SAME_THREAD = 1 << 2 };

static size_t put_number(uint64_t v, unsigned char *to)
{
	size_t n = 0;

	while (v >= 0x80) {
		to[n++] = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	to[n++] = (unsigned char)v;
	return n;
}

/* False: truncated or too long. */
static bool get_number(const unsigned char *from, size_t n, size_t *at, uint64_t *ret_v)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && *at < n; shift += 7) {
		unsigned char byte = from[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_v = v;
			return true;
		}
	}
	return false;
}

/* 0, -1, 1, -2 become 0, 1, 2, 3, so that small differences of either sign take one byte. */
static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

size_t scribe_segpack_put(struct scribe_segpack *p, const struct scribe_seg *seg, unsigned char *to)
{
	/* Wraps around, so that any offset can be packed. */
	const uint64_t jump = (uint64_t)seg->offset - (uint64_t)p->end;
	size_t n = 1;

	to[0] = (unsigned char)((jump ? 0 : SAME_PLACE) | (seg->bytes == p->bytes ? SAME_BYTES : 0) |
				(seg->thread == p->thread ? SAME_THREAD : 0));
	n += put_number(seg->start_ns - p->start_ns, to + n);
	n += put_number(seg->end_ns - seg->start_ns, to + n);
	if (!(to[0] & SAME_PLACE))
		n += put_number(zigzag((int64_t)jump), to + n);
	if (!(to[0] & SAME_BYTES))
		n += put_number(seg->bytes, to + n);
	if (!(to[0] & SAME_THREAD))
		n += put_number(zigzag((int64_t)(seg->thread - p->thread)), to + n);
	p->start_ns = seg->start_ns;
	p->bytes = seg->bytes;
	p->end = (int64_t)((uint64_t)seg->offset + seg->bytes);
	p->thread = seg->thread;
	return n;
}

size_t scribe_segpack_get(struct scribe_segpack *p, const unsigned char *from, size_t n, struct scribe_seg *ret_seg)
{
	uint64_t later, took, jump = 0, bytes = p->bytes, change = 0;
	size_t at = 1;

	if (!n || !get_number(from, n, &at, &later) || !get_number(from, n, &at, &took) ||
	    (!(from[0] & SAME_PLACE) && !get_number(from, n, &at, &jump)) ||
	    (!(from[0] & SAME_BYTES) && !get_number(from, n, &at, &bytes)) ||
	    (!(from[0] & SAME_THREAD) && !get_number(from, n, &at, &change)))
		return 0;
	ret_seg->offset = (int64_t)((uint64_t)p->end + (uint64_t)unzigzag(jump));
	ret_seg->bytes = bytes;
	ret_seg->start_ns = p->start_ns + later;
	ret_seg->end_ns = ret_seg->start_ns + took;
	ret_seg->thread = p->thread + (uint64_t)unzigzag(change);
	p->start_ns = ret_seg->start_ns;
	p->bytes = bytes;
	p->end = (int64_t)((uint64_t)ret_seg->offset + bytes);
	p->thread = ret_seg->thread;
	return at;
}
