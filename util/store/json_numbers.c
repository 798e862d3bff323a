// SPDX-License-Identifier: BSD-3-Clause
/* JSON numbers as 64-bit integers, parsed from text because a double has 53 bits. */
#include "util/store/json_numbers.h"

#include <stdlib.h>
#include <string.h>

bool scribe_json_int(const char *s, size_t len, int64_t *ret)
{
	bool negative = len && *s == '-';
	uint64_t v = 0;

	for (size_t i = negative; i < len; i++) {
		/* 18 digits cannot overflow */
		if (s[i] < '0' || s[i] > '9' || (i >= 18 && v > (INT64_MAX - (uint64_t)(s[i] - '0')) / 10))
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return len > negative;
}

bool scribe_json_id(const char *s, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	*ret = v;
	return len > 0;
}

bool scribe_json_time(const char *s, size_t len, int64_t *ret)
{
	size_t whole = len && *s == '-';
	int64_t seconds, nano = 0, scale = 100000000;
	bool negative = len && *s == '-';
	char copy[64];
	double v;

	while (whole < len && s[whole] >= '0' && s[whole] <= '9')
		whole++;
	/* Not exact, and no clock writes exponents. */
	if (memchr(s + whole, 'e', len - whole) || memchr(s + whole, 'E', len - whole)) {
		if (len >= sizeof(copy))
			return false;
		memcpy(copy, s, len);
		copy[len] = 0;
		v = strtod(copy, NULL) * 1e9;
		if (!(v > -9e18 && v < 9e18))
			return false;
		*ret = (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
		return true;
	}
	if (!scribe_json_int(s, whole, &seconds) || seconds > 9000000000 || seconds < -9000000000)
		return false;
	for (size_t i = whole + 1; i < len && scale; i++, scale /= 10)
		nano += (s[i] - '0') * scale;
	if (whole + 10 < len && s[whole + 10] >= '5')
		nano++;
	*ret = seconds * 1000000000 + (negative ? -nano : nano);
	return true;
}
