/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zlib streams by libz, otherwise stored (RFC 1950, 1951). libz stays open. Runs in MPI_Finalize. Must not know
 * what is compressed.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "runtime/client/mpi/zlib_compress.h"
#include "runtime/client/process/compat.h"

#define STORED_MAX  65535u /* per block */
#define STORED_HEAD 5u
#define ADLER_MOD   65521u
#define ADLER_RUN   5552u /* bytes before 32-bit sums can overflow */
#define LEVEL       6

typedef int (*compress_fn)(unsigned char *dest, unsigned long *dest_len, const unsigned char *src,
			   unsigned long source_len, int level);

static compress_fn find_compress(void)
{
	void *z = dlopen("libz.so.1", RTLD_LAZY | RTLD_LOCAL);
	/* RTLD_LOCAL: the program's symbols do not change. */
	void *found = z ? dlsym(z, "compress2") : NULL;

	dlerror();
	return (compress_fn)(uintptr_t)found;
}

static uint32_t adler32_of(const unsigned char *p, size_t n)
{
	uint32_t a = 1, b = 0;

	while (n) {
		size_t run = n < ADLER_RUN ? n : ADLER_RUN;

		n -= run;
		while (run--) {
			a += *p++;
			b += a;
		}
		a %= ADLER_MOD;
		b %= ADLER_MOD;
	}
	return b << 16 | a;
}

/* Valid, only larger. */
static size_t store(const unsigned char *in, size_t n, unsigned char *out)
{
	uint32_t sum = adler32_of(in, n);
	unsigned char *to = out;
	size_t left = n;

	*to++ = 0x78; /* deflate, 32 KiB window */
	*to++ = 0x01; /* no dictionary, fastest; the pair is a multiple of 31 */
	do {
		unsigned len = left < STORED_MAX ? (unsigned)left : STORED_MAX;

		*to++ = left == len; /* last block, type 0 */
		*to++ = len & 0xff;
		*to++ = (unsigned char)(len >> 8);
		*to++ = ~len & 0xff;
		*to++ = (unsigned char)(~len >> 8);
		memcpy(to, in + (n - left), len);
		to += len;
		left -= len;
	} while (left);
	for (int shift = 24; shift >= 0; shift -= 8)
		*to++ = (unsigned char)(sum >> shift);
	return (size_t)(to - out);
}

size_t scribe_zlib_compress_bound(size_t n)
{
	/* covers stored streams and zlib's own bound (n + n/4096 + n/16384 + n/2^25 + 13) */
	return n + n / 1024 + 64 + STORED_HEAD * (n / STORED_MAX + 1);
}

size_t scribe_zlib_compress(const void *in, size_t n, void *out)
{
	static compress_fn compress;
	static int looked;
	unsigned long len = scribe_zlib_compress_bound(n);

	if (!looked) {
		compress = find_compress();
		looked = 1;
	}
	if (compress && compress(out, &len, in, n, LEVEL) == 0)
		return len;
	return store(in, n, out);
}
