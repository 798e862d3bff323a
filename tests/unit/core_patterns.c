// SPDX-License-Identifier: BSD-3-Clause
/* A job's patterns: which modules a name is left out of; what is included wins; what is no expression is said. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/core/patterns.h"

static void included_wins(void **state)
{
	struct scribe_patterns p = {0};
	uint64_t out = 99;

	(void)state;
	assert_int_equal(scribe_patterns_match(&p, SCRIBE_PATTERN_NAME, "/a", &out), 0);
	assert_int_equal(out, 0);
	assert_int_equal(scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, false, 6, "\\.tmp$"), 0);
	assert_int_equal(scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, false, 1, "^/home/.*/\\.cache"), 0);
	assert_int_equal(scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, true, 2, "keep[0-9]{2}"), 0);
	assert_int_equal(scribe_patterns_add(&p, SCRIBE_PATTERN_PROGRAM, false, ~0ull, "^(git|ls)$"), 0);
	static const struct {
		const char *text;
		enum scribe_pattern_of of;
		uint64_t out;
	} cases[] = {
		{"/scratch/a.tmp", SCRIBE_PATTERN_NAME, 6},
		{"/scratch/a.tmp.1", SCRIBE_PATTERN_NAME, 0},
		{"/scratch/keep12.tmp", SCRIBE_PATTERN_NAME, 4},
		{"/home/u/.cache/x.tmp", SCRIBE_PATTERN_NAME, 7},
		{"git", SCRIBE_PATTERN_NAME, 0},
		{"git", SCRIBE_PATTERN_PROGRAM, ~0ull},
		{"gitk", SCRIBE_PATTERN_PROGRAM, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(scribe_patterns_match(&p, cases[i].of, cases[i].text, &out), 0);
		assert_int_equal(out, cases[i].out);
	}
	scribe_patterns_clear(&p);
	assert_int_equal(p.n, 0);
}

static void no_expression(void **state)
{
	static const char *const bad[] = {"(", "[a", "[z-a]", "a{2,1}", "\\"};
	struct scribe_patterns p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, false, 1, bad[i]), -EINVAL);
	assert_int_equal(p.n, 0);
	scribe_patterns_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(included_wins),
		cmocka_unit_test(no_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
