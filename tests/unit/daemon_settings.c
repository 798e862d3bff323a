/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's settings under Darshan's names: what each sets, and every refusal by its text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "logfmt/counters/records.h"
#include "runtime/core/path_exclusions.h"
#include "runtime/daemon/config/config.h"

#define BIT(module) (1ull << SCRIBE_MOD_##module)
#define DXT         (BIT(DXT_POSIX) | BIT(DXT_MPIIO))

static struct scribe_config c;
static struct scribe_err err;

static int begin(void **unused)
{
	(void)unused;
	return scribe_config_default(&c, &err);
}

static int end(void **unused)
{
	(void)unused;
	scribe_config_clear(&c);
	return 0;
}

static void set(const char *name, const char *value)
{
	if (scribe_config_darshan(&c, name, value, &err) < 0)
		fail_msg("%s = %s: %s", name, value, err.text);
}

static void refusals(void **unused)
{
	static const char *const cases[][3] = {
		{"NONSENSE", "1", "unknown key 'NONSENSE'"},
		{"MODMEM", "much", "MODMEM: 'much' is not a number above 0"},
		{"MODMEM", "0", "MODMEM: '0' is not a number above 0"},
		{"MODMEM", "-4", "MODMEM: '-4' is not a number above 0"},
		{"MODMEM", "4x", "MODMEM: '4x' is not a number above 0"},
		{"MODMEM", "nan", "MODMEM: 'nan' is not a number above 0"},
		{"MAX_RECORDS", "", "MAX_RECORDS: '' is not a number above 0"},
		{"MEM_ALIGNMENT", "none", "MEM_ALIGNMENT: 'none' is not a number above 0"},
		{"DXT_SMALL_IO_TRIGGER", "-0.1", "DXT_SMALL_IO_TRIGGER: '-0.1' is not a share, 0 or more"},
		{"DXT_UNALIGNED_IO_TRIGGER", "x", "DXT_UNALIGNED_IO_TRIGGER: 'x' is not a share, 0 or more"},
		{"NAME_EXCLUDE", "(a POSIX", "'(a' is no extended regular expression: Unmatched ( or \\("},
		{"NAME_EXCLUDE", "^a POSIX,NONE", "no module 'NONE'"},
		{"MOD_DISABLE", "POSIX,none", "no module 'none'"},
		{"RANK_INCLUDE", "a", "'a' is no rank or range of ranks"},
		{"LOGPATH", "logs", "log_dir: 'logs' is not an absolute path"},
	};
	char hints[300];

	(void)unused;
	c.exclusion_rules.compiles = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(scribe_config_darshan(&c, cases[i][0], cases[i][1], &err), -EINVAL);
		assert_string_equal(err.text, cases[i][2]);
	}
	c.exclusion_rules.compiles = false;
	assert_int_equal(c.exclusion_rules.n, 0);
	assert_int_equal(c.exclusion_rules.modules_off, 0);
	memset(hints, 'h', sizeof(hints) - 1);
	hints[sizeof(hints) - 1] = 0;
	assert_int_equal(scribe_config_darshan(&c, "LOGHINTS", hints, &err), -EINVAL);
	assert_string_equal(err.text, "LOGHINTS: longer than 255 bytes");
	hints[255] = 0;
	set("LOGHINTS", hints);
	assert_string_equal(c.log_hints, hints);
}

static void names_are_known_as_they_are(void **unused)
{
	(void)unused;
	assert_true(scribe_config_is_darshan("MODMEM"));
	assert_true(scribe_config_is_darshan("DXT_UNALIGNED_IO_TRIGGER"));
	assert_false(scribe_config_is_darshan("modmem"));
	assert_false(scribe_config_is_darshan("DARSHAN_MODMEM"));
	assert_false(scribe_config_is_darshan(""));
}

static void sizes_have_no_meaning_here(void **unused)
{
	struct scribe_config before = c;

	(void)unused;
	set("MODMEM", "4");
	set("NAMEMEM", "1.5 MiB");
	set("MAX_RECORDS", "5000 POSIX,MPI-IO");
	set("JOBID", "ANY_VARIABLE");
	set("INTERNAL_TIMING", "");
	assert_memory_equal(&before, &c, sizeof(c));
}

static void numbers_and_switches(void **unused)
{
	(void)unused;
	assert_false(c.unshared);
	set("DISABLE_SHARED_REDUCTION", "");
	assert_true(c.unshared);
	set("MEM_ALIGNMENT", "16");
	assert_int_equal(c.mem_alignment, 16);
	set("MEMALIGN", "64");
	assert_int_equal(c.mem_alignment, 64);
	set("DXT_SMALL_IO_TRIGGER", "0.2");
	assert_true(c.dxt_small == (double)0.2f);
	set("DXT_UNALIGNED_IO_TRIGGER", "1 and more");
	assert_true(c.dxt_unaligned == 1.0);
	assert_true(c.dxt_small == (double)0.2f);
	set("LOGPATH", "/logs");
	assert_string_equal(c.log_dir, "/logs");
	assert_true(c.dated);
	set("LOGFILE", "/tmp/one.darshan");
	assert_string_equal(c.log_file, "/tmp/one.darshan");
}

static void modules_go_off_and_on(void **unused)
{
	uint64_t *off = &c.exclusion_rules.modules_off;

	(void)unused;
	set("MOD_DISABLE", "POSIX,STDIO");
	assert_int_equal(*off, BIT(POSIX) | BIT(STDIO));
	set("MOD_ENABLE", "STDIO,H5F");
	assert_int_equal(*off, BIT(POSIX));
	assert_false(c.dxt);
	/* traces are off by default: of the two that one is had which is asked for */
	set("MOD_ENABLE", "DXT_MPIIO");
	assert_true(c.dxt);
	assert_int_equal(*off, BIT(POSIX) | BIT(DXT_POSIX));
	set("MOD_ENABLE", "DXT_POSIX");
	assert_int_equal(*off, BIT(POSIX));
	set("MOD_DISABLE", "DXT_POSIX");
	assert_true(c.dxt);
	assert_int_equal(*off & DXT, BIT(DXT_POSIX));
	set("MOD_DISABLE", "DXT_MPIIO");
	assert_false(c.dxt);
	assert_int_equal(*off & DXT, 0);
}

static bool is_left_out(const char *path)
{
	return scribe_exclusions_match(&c.paths, path, strlen(path));
}

static void directories_replace_the_usual_ones(void **unused)
{
	(void)unused;
	assert_true(is_left_out("/usr/lib/x"));
	set("EXCLUDE_DIRS", "/a,/b/,");
	assert_true(is_left_out("/a/x"));
	assert_true(is_left_out("/b/c/x"));
	assert_false(is_left_out("/ab/x")); /* all below it, nothing else */
	assert_false(is_left_out("/usr/lib/x"));
	set("EXCLUDE_DIRS", "none");
	assert_false(is_left_out("/a/x"));
	assert_int_equal(scribe_config_darshan(&c, "EXCLUDE_DIRS", "relative", &err), -EINVAL);
	assert_string_equal(err.text, "exclude: 'relative/' is not a list of at most 512 absolute paths");
}

static void rules_hold_for_their_modules(void **unused)
{
	(void)unused;
	set("NAME_EXCLUDE", "^/a,[.]b$\tPOSIX,STDIO");
	assert_int_equal(c.exclusion_rules.n, 2);
	set("NAME_INCLUDE", "^/a/c");
	set("APP_EXCLUDE", "^git,bash$");
	assert_int_equal(c.exclusion_rules.n, 5);
	assert_true(scribe_exclusion_rules_have(&c.exclusion_rules, SCRIBE_PATTERN_NAME));
	assert_true(scribe_exclusion_rules_have(&c.exclusion_rules, SCRIBE_PATTERN_PROGRAM));
	set("RANK_EXCLUDE", "1:");
	set("RANK_INCLUDE", "7");
	assert_false(scribe_exclusion_rules_rank_out(&c.exclusion_rules, 0));
	assert_true(scribe_exclusion_rules_rank_out(&c.exclusion_rules, 1));
	assert_false(scribe_exclusion_rules_rank_out(&c.exclusion_rules, 7));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(refusals),
		CASE(names_are_known_as_they_are),
		CASE(sizes_have_no_meaning_here),
		CASE(numbers_and_switches),
		CASE(modules_go_off_and_on),
		CASE(rules_hold_for_their_modules),
		CASE(directories_replace_the_usual_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
