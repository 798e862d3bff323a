/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zlib streams. libz is loaded only here, at the end of MPI programs; without it the stream is stored
 * uncompressed, which every reader accepts.
 */
#ifndef RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H
#define RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H

#include <stddef.h>

size_t scribe_zlib_compress_bound(size_t n);
/* `out` has scribe_zlib_compress_bound(n) bytes; returns the bytes used. */
size_t scribe_zlib_compress(const void *in, size_t n, void *out);

#endif
