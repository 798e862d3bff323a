/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callers of Darshan's C interface search the table of names (struct darshan_name_record_ref) with macros, so
 * its buckets belong to the ABI: those of uthash 1.9.2, which Darshan carries. Newer releases have the same
 * structures, but hash the bytes of a key as unsigned instead of `char`. This header is the system's uthash
 * with 1.9.2's buckets.
 */
#ifndef IOSCRIBE_COMPAT_UTHASH_H
#define IOSCRIBE_COMPAT_UTHASH_H

#include <uthash.h>

/* Four bytes of a key, or what is left of it. */
static inline unsigned darshan_uthash_word(const char *key, unsigned len)
{
	unsigned w = 0;

	for (unsigned i = 0; i < len && i < 4; i++)
		w += (unsigned)key[i] << (8 * i);
	return w;
}

static inline void darshan_uthash_mix(unsigned *a, unsigned *b, unsigned *c)
{
	static const unsigned char shift[] = {13, 8, 13, 12, 16, 5, 3, 10, 15};

	for (int i = 0; i < 9; i += 3) {
		*a = (*a - *b - *c) ^ (*c >> shift[i]);
		*b = (*b - *c - *a) ^ (*a << shift[i + 1]);
		*c = (*c - *a - *b) ^ (*b >> shift[i + 2]);
	}
}

/* Jenkins' hash of 1996 in twelves of bytes; the last word's lowest byte is the length's. */
static inline unsigned darshan_uthash(const void *key, unsigned len)
{
	const char *k = (const char *)key;
	unsigned a = 0x9e3779b9U, b = a, c = 0xfeedbeefU, left = len;

	for (; left >= 12; left -= 12, k += 12) {
		a += darshan_uthash_word(k, 4);
		b += darshan_uthash_word(k + 4, 4);
		c += darshan_uthash_word(k + 8, 4);
		darshan_uthash_mix(&a, &b, &c);
	}
	a += darshan_uthash_word(k, left);
	b += left > 4 ? darshan_uthash_word(k + 4, left - 4) : 0;
	c += len + (left > 8 ? darshan_uthash_word(k + 8, left - 8) << 8 : 0);
	darshan_uthash_mix(&a, &b, &c);
	return c;
}

#ifdef HASH_VALUE /* since release 2.0; older ones look where 1.9.2 does */
#undef HASH_FUNCTION
#define HASH_FUNCTION(key, len, hashv) ((hashv) = darshan_uthash((key), (unsigned)(len)))
#undef HASH_FCN /* the name in releases before 2.2 */
#define HASH_FCN(key, len, hashv) HASH_FUNCTION(key, len, hashv)
#endif

#endif
