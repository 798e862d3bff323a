/* SPDX-License-Identifier: BSD-3-Clause */
/* Times on the log's grid: nearest multiple, order, sums, limits. */
#include "logfmt_support.h"

#include "logfmt/records/quantum.h"

#define TICK 0x1p-22

static void nearest_multiple(void **state)
{
	static const struct {
		uint64_t ns;
		double ticks;
	} cases[] = {
		{0, 0},
		{1, 1},
		{118, 1},
		{119, 1},
		{238, 1},
		{357, 1},
		{358, 2},
		{477, 2},
		{500, 2},
		{999999880, 4194303},
		{999999881, 4194304},
		{1000000000, 4194304},
		{1000000119, 4194304},
		{1000000120, 4194305},
		{86400ull * 365 * 1000000000, 86400.0 * 365 * 4194304},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (scribe_quantum_seconds(cases[i].ns) != cases[i].ticks * TICK)
			fail_msg("%llu ns are %.1f ticks", (unsigned long long)cases[i].ns,
				 scribe_quantum_seconds(cases[i].ns) / TICK);
}

static void random_times(void **state)
{
	uint64_t ticks = 0;
	double sum = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t ns = rnd() >> (8 + below(56)), more = ns + below(1000);
		double a = scribe_quantum_seconds(ns), b = scribe_quantum_seconds(more);

		assert_true(a <= b);
		assert_true((a == 0) == (ns == 0));
		assert_true(a / TICK == (double)(int64_t)(a / TICK));
		assert_true(scribe_quantum_round(a) == a);
		if (ns > 1000 && ns < 1ull << 50) /* beyond that the doubles of this check are too coarse */
			assert_true(a - (double)ns / 1e9 < TICK * 0.6 && (double)ns / 1e9 - a < TICK * 0.6);
		a = scribe_quantum_seconds(below(1ull << 32)); /* sums are exact */
		sum += a;
		ticks += (uint64_t)(a / TICK);
		assert_true(sum == (double)ticks * TICK);
	}
}

static void moments(void **state)
{
	assert_true(scribe_quantum_when(0, 5) == 0);
	assert_true(scribe_quantum_when(4, 5) == TICK);
	assert_true(scribe_quantum_when(5, 5) == TICK);
	assert_true(scribe_quantum_when(1000000005, 5) == 1);
}

static void rounding_seconds(void **state)
{
	assert_true(scribe_quantum_round(-0.1) == -scribe_quantum_round(0.1));
	assert_true(scribe_quantum_round(1e-9) == 0);
	assert_true(scribe_quantum_round(1e300) == 1e300);
	assert_true(scribe_quantum_round(-1e300) == -1e300);
	assert_true(scribe_quantum_round(0.25) == 0.25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_multiple),
		cmocka_unit_test(random_times),
		cmocka_unit_test(moments),
		cmocka_unit_test(rounding_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
