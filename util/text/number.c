// SPDX-License-Identifier: BSD-3-Clause
/* Numbers as text, faster than printf. Fixed-point text is exact, rounded half to even as by printf. */
#include "util/text/number.h"

#include <stdio.h>
#include <string.h>

/* 00 to 99. */
static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
			       "25262728293031323334353637383940414243444546474849"
			       "50515253545556575859606162636465666768697071727374"
			       "75767778798081828384858687888990919293949596979899";

static const uint64_t tens[10] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

char *scribe_put_u64(char *to, uint64_t v)
{
	char text[20];
	char *at = text + sizeof(text);
	size_t n;

	if (v < 10) {
		*to = (char)('0' + v);
		return to + 1;
	}
	while (v >= 100) {
		at -= 2;
		memcpy(at, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(at, pairs + 2 * v, 2);
	} else {
		*--at = (char)('0' + v);
	}
	n = (size_t)(text + sizeof(text) - at);
	memcpy(to, at, n);
	return to + n;
}

char *scribe_put_i64(char *to, int64_t v)
{
	if (v >= 0)
		return scribe_put_u64(to, (uint64_t)v);
	*to = '-';
	return scribe_put_u64(to + 1, 0 - (uint64_t)v);
}

static char *put_padded(char *to, uint64_t v, int digits)
{
	int i = digits;

	for (; i >= 2; i -= 2) {
		memcpy(to + i - 2, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (i)
		to[0] = (char)('0' + v % 10);
	return to + digits;
}

/* n / 2^shift, rounded half to even; shift 1..127, n < 2^127. */
static uint64_t shift_even(unsigned __int128 n, int shift)
{
	unsigned __int128 one = 1;
	unsigned __int128 half = one << (shift - 1);
	unsigned __int128 rest = n & ((one << shift) - 1);
	uint64_t whole = (uint64_t)(n >> shift);

	return whole + (rest > half || (rest == half && (whole & 1)));
}

char *scribe_put_fixed(char *to, double v, int digits)
{
	uint64_t bits, mantissa, whole = 0, part = 0;
	int shift;

	memcpy(&bits, &v, sizeof(bits));
	shift = 1075 - (int)(bits >> 52 & 0x7ff); /* v = mantissa / 2^shift */
	mantissa = bits & ((UINT64_C(1) << 52) - 1);
	if (shift == 1075)
		shift = 1074; /* zero and subnormal */
	else
		mantissa |= UINT64_C(1) << 52;
	if (shift < -10) /* 2^63 and more, infinity, NaN: rare */
		return to + snprintf(to, SCRIBE_NUMBER_MAX, "%.*f", digits, v);
	if (bits >> 63)
		*to++ = '-';
	if (shift <= 0) {
		whole = mantissa << -shift;
	} else {
		if (shift < 64) {
			whole = mantissa >> shift;
			mantissa &= (UINT64_C(1) << shift) - 1;
		}
		/* The product is below 2^53 * 10^9 < 2^84: with a shift over 100 it rounds to 0. */
		part = shift > 100 ? 0 : shift_even((unsigned __int128)mantissa * tens[digits], shift);
		if (part == tens[digits]) {
			part = 0;
			whole++;
		}
	}
	to = scribe_put_u64(to, whole);
	*to++ = '.';
	return put_padded(to, part, digits);
}

char *scribe_put_f6(char *to, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (bits == 0) { /* most counters are zero; -0.0 has other bits */
		memcpy(to, "0.000000", 8);
		return to + 8;
	}
	return scribe_put_fixed(to, v, 6);
}
