/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter of the single-region layout: records of one length stand transposed, the first bytes of
 * all, then the second ones, in blocks. Private to logfmt/.
 */
#ifndef LOGFMT_FILE_BLOCKS_H
#define LOGFMT_FILE_BLOCKS_H

#include "logfmt/file/region_stream.h"

#define SCRIBE_BLOCK_BYTES (1u << 20) /* of a block of more than one record, at most */

/* What stands before a block of `count` records of `stride` bytes, base records included. */
struct scribe_block_head {
	uint32_t count, stride;
};

/* `n` records of `stride` bytes from one order into the other. */
void scribe_block_transpose(const unsigned char *records, size_t n, size_t stride,
			    unsigned char *ret_columns);
void scribe_block_restore(const unsigned char *columns, size_t n, size_t stride, unsigned char *ret_records);

/*
 * The region as it would be without the filter. `plain` (owned from here on, also where there is no memory)
 * is the region with its blocks.
 */
struct scribe_region_stream *scribe_blocks_stream(struct scribe_region_stream *plain, bool swapped,
						  const char *label, const char *region);

#endif
