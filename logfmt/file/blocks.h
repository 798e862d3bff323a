/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_BLOCKS_H
#define LOGFMT_FILE_BLOCKS_H

#include "logfmt/file/region_stream.h"

#define SCRIBE_BLOCK_BYTES (1u << 20) /* of a block with several records, at most */

/* Precedes a block; `stride` includes the base record. */
struct scribe_block_head {
	uint32_t count, stride;
};

void scribe_block_transpose(const unsigned char *records, size_t n, size_t stride, unsigned char *ret_columns);
void scribe_block_restore(const unsigned char *columns, size_t n, size_t stride, unsigned char *ret_records);

/* The region without the filter. Owns `plain`, even if NULL is returned. */
struct scribe_region_stream *scribe_blocks_stream(struct scribe_region_stream *plain, bool swapped, const char *label,
						  const char *region);

#endif
