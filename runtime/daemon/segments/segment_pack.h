/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_SEGMENTS_SEGMENT_PACK_H
#define RUNTIME_DAEMON_SEGMENTS_SEGMENT_PACK_H

#include <stddef.h>
#include <stdint.h>

struct scribe_seg {
	int64_t offset;
	uint64_t bytes, start_ns, end_ns;
	uint64_t thread;
};

#define SCRIBE_SEGPACK_MOST 52 /* bytes per segment */

/* The previous segment; initially zero. */
struct scribe_segpack {
	uint64_t start_ns, bytes;
	int64_t end; /* offset after it */
	uint64_t thread;
};

/* seg->start_ns must not be before the previous one. Returns the bytes written. */
size_t scribe_segpack_put(struct scribe_segpack *p, const struct scribe_seg *seg, unsigned char *to);
/* Returns the bytes consumed of `n`; 0: not a segment. */
size_t scribe_segpack_get(struct scribe_segpack *p, const unsigned char *from, size_t n, struct scribe_seg *ret_seg);

#endif
