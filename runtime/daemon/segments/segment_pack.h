/* SPDX-License-Identifier: BSD-3-Clause */
/* One segment after another as a few bytes: what follows from the one before is left out. */
#ifndef RUNTIME_DAEMON_SEGMENTS_SEGMENT_PACK_H
#define RUNTIME_DAEMON_SEGMENTS_SEGMENT_PACK_H

#include <stddef.h>
#include <stdint.h>

struct scribe_seg {
	int64_t offset;
	uint64_t bytes, start_ns, end_ns;
	uint64_t thread; /* a word of its own */
};

#define SCRIBE_SEGPACK_MOST 52 /* bytes of one */

/* What a reader or writer of a run knows of the last one; zeros at its beginning. */
struct scribe_segpack {
	uint64_t start_ns, bytes;
	int64_t end; /* offset behind it */
	uint64_t thread;
};

/* seg->start_ns is not before the last one's. Bytes written to `to`. */
size_t scribe_segpack_put(struct scribe_segpack *p, const struct scribe_seg *seg, unsigned char *to);
/* Bytes read from `from`, of which `n` are there; 0: it is none. */
size_t scribe_segpack_get(struct scribe_segpack *p, const unsigned char *from, size_t n, struct scribe_seg *ret_seg);

#endif
