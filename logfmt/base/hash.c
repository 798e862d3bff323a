/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bob Jenkins' 64-bit hash ("lookup8", 1997), little endian on every machine. Record ids are this hash with level
 * 0, as in Darshan: otherwise records of other tools and nodes would not match.
 */
#include "logfmt/base/hash.h"

struct state {
	uint64_t a, b, c;
};

#define ROUND(x, y, z, shift) (((x) - (y) - (z)) ^ (shift))

static void mix(struct state *s)
{
	static const struct {
		unsigned char a, b, c; /* shifts: a by c right, b by a left, c by b right */
	} steps[4] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};

	for (int i = 0; i < 4; i++) {
		s->a = ROUND(s->a, s->b, s->c, s->c >> steps[i].a);
		s->b = ROUND(s->b, s->c, s->a, s->a << steps[i].b);
		s->c = ROUND(s->c, s->a, s->b, s->b >> steps[i].c);
	}
}

static uint64_t take(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint64_t scribe_hash64(const void *bytes, size_t len, uint64_t level)
{
	const unsigned char *p = bytes;
	struct state s = {level, level, 0x9e3779b97f4a7c13ull}; /* the golden ratio */
	size_t left = len;

	for (; left >= 24; left -= 24, p += 24) {
		s.a += take(p, 8);
		s.b += take(p + 8, 8);
		s.c += take(p + 16, 8);
		mix(&s);
	}
	/* The lowest byte of c is reserved for the length. */
	s.c += len;
	s.a += take(p, left < 8 ? left : 8);
	if (left > 8)
		s.b += take(p + 8, left < 16 ? left - 8 : 8);
	if (left > 16)
		s.c += take(p + 16, left - 16) << 8;
	mix(&s);
	return s.c;
}

uint64_t scribe_record_id(const void *name, size_t len)
{
	return scribe_hash64(name, len, 0);
}
