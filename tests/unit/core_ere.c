// SPDX-License-Identifier: BSD-3-Clause
/*
 * Patterns of job's users: translated and matched by PCRE2 they mean what regcomp(3) and
 * regexec(3) make of them. Every expression of Darshan's documentation, and random ones.
 */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/ere.h"
#include "runtime/core/patterns.h"
#include "tests/harness/seed.h"

static uint64_t seed = 88172645463325252ull;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* 1, 0, or negative where it is no expression. */
static int by_libc(const char *pattern, const char *text)
{
	regex_t r;
	int rc = regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB);

	if (rc)
		return rc == REG_ESPACE || rc == REG_ESIZE ? -E2BIG : -EINVAL;
	rc = regexec(&r, text, 0, NULL, 0);
	regfree(&r);
	return rc == 0;
}

static int by_us(const char *pattern, const char *text)
{
	struct scribe_patterns p = {0};
	uint64_t out = 0;
	int rc = scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, false, 1, pattern);

	if (rc == 0)
		rc = scribe_patterns_match(&p, SCRIBE_PATTERN_NAME, text, &out);
	scribe_patterns_clear(&p);
	return rc < 0 ? rc : out == 1;
}

static void same(const char *pattern, const char *text)
{
	int want = by_libc(pattern, text), got = by_us(pattern, text);

	if (want != got)
		fail_msg("'%s' on '%s' is %d, not %d", pattern, text, got, want);
}

static void what_is_known(void **state)
{
	/* of the manual of darshan-runtime and its example of a configuration file, and edges */
	static const char *const patterns[] = {
		".pyc$", "^/usr/lib", "\\.pyc$", "^/home/.*/\\.cache", "git", "ls", "^/tmp/",
		"\\.so", ".*\\.h5$", "[0-9]+$",
		"foo$", "^bar", "a|b", "", "()", "a**", "a+?", "a*+", "a{2}{3}", "(a|b)*c", "[]a]",
		"[^]a]", "[a-]", "[[:alpha:]_]",
		"[\\.]", "a\\.b", "a\\", "[", "[a", "(", ")", "a)", "*a", "^*", "a|*b", "{", "a{",
		"a{,2}", "a{2,1}", "a{1,", "\\(a\\)",
		"(a)\\1", "\\1", "(a\\1)", "[[:nope:]]", "[z-a]", "[a-c-e]", "[%--]", "[[.a.]]",
		"[[=a=]-z]", "x$y", "a^b", "\\<a",
		"a\\>", "\\bfoo\\b", "\\Boo", "\\w+", "\\W", "\\s", "\\S+$", "\\`a", "a\\'", "#a",
		"a b", "(?:a)", "(*UTF)a", "a||b", "(|a)",
		"\\Qa\\E", "\\d", "\\x41", "[[:space:]-z]", "\x80", "[\x80-\xff]", "a{0}", "(a{0})b",
		"}", "]", "a{1}b{2,}", "$", "^$", "-",
	};
	static const char *const texts[] = {"",	     "a",	"ab",	 "aab",	  "foo",	  "/usr/lib/x.so",
					    "x.pyc", "a.b",	"a\\.b", "aaaaaa", "/home/u/.cache/z", "foo bar",
					    "\x80",  "b\nfoo\n", "]",	 "-",	  "(a",		  "A1",
					    "UTF",   "d",	"Qa",	 "x$y",	  "a^b",	  "#a"};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			same(patterns[i], texts[k]);
}

static void random_ones(void **state)
{
	static const char *const pieces[] = {
		"a",  "b",   "c",    ".",     "*",	     "+",  "?",	 "(",  ")",   "|",   "^",   "$",   "{2}",
		"{1,3}", "{,2}", "{0,}", "{", "}", ",",	     "[",  "]",	 "[^", "-",   "[ab]", "[a-c]", "[[:alpha:]]",
		"[:", ":]",  "\\",   "\\w",   "\\b", "\\<", "\\>", "\\B", "\\W", "\\.", "\\(", "/",   "1",
	};
	static const char *const letters[] = {"a", "b", "c", "/", ".", "1", " ", "(", "ab"};
	unsigned good = 0, hits = 0;

	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		char pattern[64] = "", text[64] = "";
		int want;

		for (unsigned k = below(7) + 1; k; k--)
			strcat(pattern, pieces[below(sizeof(pieces) / sizeof(pieces[0]))]);
		for (unsigned k = below(8); k; k--)
			strcat(text, letters[below(sizeof(letters) / sizeof(letters[0]))]);
		want = by_libc(pattern, text);
		if (want == -E2BIG)
			continue;
		same(pattern, text);
		good += want >= 0;
		hits += want == 1;
	}
	assert_true(good > 10000 && hits > 3000);
}

static void hostile_ones(void **state)
{
	char text[25000], path[501];

	(void)state;
	memset(text, '(', sizeof(text));
	text[24500] = 0;
	assert_int_equal(by_us(text, "x"), -E2BIG);
	text[SCRIBE_ERE_DEPTH_MAX + 1] = 0;
	assert_int_equal(by_us(text, "x"), -E2BIG);
	text[SCRIBE_ERE_DEPTH_MAX] = 0;
	assert_int_equal(by_us(text, "x"), -EINVAL);
	memset(path, 'a', 500);
	path[500] = 0;
	assert_int_equal(by_us("(.*)(.*)(.*)(.*)\\1\\2\\3\\4Z", path), 0);
	path[0] = 'Z';
	assert_int_equal(by_us("(.*)(.*)(.*)(.*)\\1\\2\\3\\4Z", path), -E2BIG);
	path[0] = 'a';
	assert_int_equal(by_us("((((a{255}){255}){255}){255})", path), -E2BIG);
	assert_int_equal(by_us("(a|aa)+$", path), 1);
	path[499] = 'b';
	assert_int_equal(by_us("^(a|aa)+$", path), -E2BIG);
	assert_int_equal(by_us("a{1001}", path), -E2BIG);
	/* as many repetitions as there is room for, each a group of its own */
	memset(text, '*', 1000);
	text[0] = 'a';
	text[1000] = 0;
	assert_int_equal(by_us(text, "x"), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known),
		cmocka_unit_test(random_ones),
		cmocka_unit_test(hostile_ones),
	};

	seed = scribe_test_seed(seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
