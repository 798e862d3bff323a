// SPDX-License-Identifier: BSD-3-Clause
/*
 * Numbers as text against printf, which is the reference: named cases where
 * rounding is hard, then millions of random ones of every size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/text/number.h"
#include "tests/harness/seed.h"

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void same_real(double v)
{
	char ours[SCRIBE_NUMBER_MAX + 1], theirs[SCRIBE_NUMBER_MAX + 1];

	for (int digits = 1; digits <= 9; digits++) {
		*scribe_put_fixed(ours, v, digits) = '\0';
		snprintf(theirs, sizeof(theirs), "%.*f", digits, v);
		if (strcmp(ours, theirs))
			fail_msg("%a with %d digits: '%s', printf says '%s'", v, digits, ours, theirs);
	}
	*scribe_put_f6(ours, v) = '\0';
	snprintf(theirs, sizeof(theirs), "%f", v);
	if (strcmp(ours, theirs))
		fail_msg("%a: '%s', printf says '%s'", v, ours, theirs);
}

static void hard_reals(void **unused)
{
	static const double cases[] = {
		0.0, -0.0, 0.5, 1.5, 2.5, 0.05, 0.15, 0.25, 0.35, 0.125, 0.375, 0.0000005, 0.0000015, 0.0000025,
		0.9999995, 0.99999949999, 0.9999999999, 1e-300, DBL_MIN, DBL_TRUE_MIN, DBL_MAX, -DBL_MAX,
		DBL_EPSILON, 1e15, 1e16, 9007199254740991.0, 9007199254740992.0, 9007199254740993.0,
		9223372036854774784.0, 9223372036854775808.0, 18446744073709551616.0, 1e22, 1e23, 1e100,
		123456789.123456789, 4503599627370495.5, 4503599627370496.5, 0.1, 0.2, 0.3, 1.0 / 3, INFINITY,
		-INFINITY, NAN, 0x1p-20, 0x1p-21, 0x1p-63, 0x1p-64, 0x1p-65, 0x1.fffffffffffffp-22, 999999.9999995,
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		same_real(cases[i]);
		same_real(-cases[i]);
		same_real(nextafter(cases[i], INFINITY));
		same_real(nextafter(cases[i], -INFINITY));
	}
}

/* Exact halves of the last digit: k / 2^n ends in a 5 one place further. */
static void ties(void **unused)
{
	(void)unused;
	for (int n = 1; n <= 12; n++)
		for (int64_t k = -5000; k < 5000; k++)
			same_real(ldexp((double)k, -n));
}

static void random_reals(void **unused)
{
	(void)unused;
	for (int i = 0; i < 60000; i++) {
		uint64_t r = random_bits();

		same_real(from_bits(r));                                            /* any double */
		same_real(from_bits((r & ~(UINT64_C(0x7ff) << 52)) | (1023 - 40 + (r >> 56) % 110) << 52));
		same_real((double)(r >> 20) / 1e9);                                 /* times */
		same_real((double)(r % 1000000000) / 1e6);                          /* short decimals */
		same_real((double)(r % 2000000001) / 2e6);                          /* near ties */
	}
}

static void same_integer(uint64_t v)
{
	char ours[32], theirs[32];

	*scribe_put_u64(ours, v) = '\0';
	snprintf(theirs, sizeof(theirs), "%" PRIu64, v);
	assert_string_equal(ours, theirs);
	*scribe_put_i64(ours, (int64_t)v) = '\0';
	snprintf(theirs, sizeof(theirs), "%" PRId64, (int64_t)v);
	assert_string_equal(ours, theirs);
}

static void integers(void **unused)
{
	uint64_t ten = 1;

	(void)unused;
	for (int i = 0; i < 20; i++, ten *= 10)
		for (int d = -2; d <= 2; d++)
			same_integer(ten + (uint64_t)d);
	same_integer(0);
	same_integer(UINT64_MAX);
	same_integer((uint64_t)INT64_MIN);
	for (int i = 0; i < 200000; i++) {
		uint64_t r = random_bits();

		same_integer(r >> (random_bits() % 64));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hard_reals),
		cmocka_unit_test(ties),
		cmocka_unit_test(random_reals),
		cmocka_unit_test(integers),
	};

	state = scribe_test_seed(state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
