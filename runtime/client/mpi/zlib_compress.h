/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One complete zlib stream of a buffer. The preloaded library loads libz only
 * here, at the end of an MPI program, and not at all into any other; where there
 * is none the stream holds the bytes as they are, which every reader takes.
 */
#ifndef RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H
#define RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H

#include <stddef.h>

/* Bytes that scribe_zlib_compress may need for `n` bytes. */
size_t scribe_zlib_compress_bound(size_t n);
/* Compress into `out` (scribe_zlib_compress_bound(n) bytes); returns the bytes used. */
size_t scribe_zlib_compress(const void *in, size_t n, void *out);

#endif
