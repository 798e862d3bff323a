/* SPDX-License-Identifier: BSD-3-Clause */
/* libz is loaded only here, at the end of MPI programs. Every reader accepts a stored stream. */
#ifndef RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H
#define RUNTIME_CLIENT_MPI_ZLIB_COMPRESS_H

#include <stddef.h>

size_t scribe_zlib_compress_bound(size_t n);
/* `out` has scribe_zlib_compress_bound(n) bytes; returns the bytes used. */
size_t scribe_zlib_compress(const void *in, size_t n, void *out);

#endif
