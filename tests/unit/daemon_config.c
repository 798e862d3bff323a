/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration: every refusal by its text; the map under it all against a plain list. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/daemon/config.h"
#include "logfmt/map.h"
#include "runtime/daemon/records.h"

static void refusals(void **state)
{
	static const char *const cases[][2] = {
		{"nonsense", "options, line 1: 'nonsense' is not key = value"},
		{"a = 1", "options, line 1: unknown key 'a'"},
		{"# x\n\nrecords = 5", "options, line 3: records: '5' is not a number from 16 to 16777216"},
		{"records = 1e6", "records: '1e6' is not a number"},
		{"records = -20", "records: '-20' is not a number"},
		{"records =", "records: '' is not a number"},
		{"records = 99999999999999999999", "is not a number"},
		{"collective = maybe", "collective: 'maybe' is neither yes nor no"},
		{"log_dir = here", "log_dir: 'here' is not an absolute path"},
		{"log_layout = deep", "log_layout: 'deep' is neither dated nor flat"},
		{"attach = kprobe",
		 "attach: 'kprobe' is none of auto, fentry, tp_btf, tp_btf_probe, raw_tp, tracepoint"},
		{"exclude = tmp/", "exclude: 'tmp/' is not a list of at most 512 absolute paths"},
		{"modules = NULL,FOO", "modules: no module 'FOO' is fed by plain code"},
		{"user = 0123456789012345678901234567890123456789012345678901234567890123456789",
		 "user: longer than 63 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scribe_config c;
		struct scribe_err err = {0};

		assert_int_equal(scribe_config_default(&c, &err), 0);
		assert_int_equal(scribe_config_text(&c, cases[i][0], strlen(cases[i][0]), "options", &err),
				 -EINVAL);
		if (!strstr(err.text, cases[i][1]))
			fail_msg("'%s' instead of '%s'", err.text, cases[i][1]);
		scribe_config_clear(&c);
	}
}

static void a_good_file(void **state)
{
	static const char text[] =
		"# site\n  records = 2000  \nprocesses=77\nlisted_processes = 9\nmem_alignment = 64\n"
		"all_types = yes\ngrace_ms = 5\ndeadline_ms = 6\ncollective = off\nruntime = no\n"
		"attach = raw_tp\nmodules = NULL\nexclude = none,/x/\ninclude = /x/y/\n"
		"log_file = /tmp/a b.darshan\nlog_dir = /logs\nlog_layout = dated\nuid = 5\ngid = 6\n"
		"user = u\nlibrary = /l.so";
	char path[] = "/tmp/scribe-config-XXXXXX";
	struct scribe_config c;
	struct scribe_err err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(scribe_config_default(&c, &err), 0);
	assert_int_equal(scribe_config_file(&c, path, &err), 0);
	assert_int_equal(c.records, 2000);
	assert_int_equal(c.processes, 77);
	assert_int_equal(c.listed, 9);
	assert_int_equal(c.mem_alignment, 64);
	assert_true(c.all_types);
	assert_int_equal(c.grace_ms, 5);
	assert_int_equal(c.deadline_ms, 6);
	assert_false(c.collective);
	assert_false(c.runtime);
	assert_string_equal(c.level, "raw_tp");
	assert_string_equal(c.log_file, "/tmp/a b.darshan");
	assert_true(c.dated);
	assert_int_equal(c.uid, 5);
	assert_int_equal(c.paths.out.n, 1);
	assert_int_equal(c.paths.in.n >= 1, 1);
	unlink(path);
	assert_int_equal(scribe_config_file(&c, path, &err), -ENOENT);
	assert_int_equal(scribe_config_file(&c, "/dev/null", &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a regular file"));
	scribe_config_clear(&c);
}

static void map_against_a_list(void **state)
{
	static void *list[4096];
	static char place[8192];
	struct scribe_map map = {0};
	size_t used = 0;

	(void)state;
	srand(3);
	assert_null(scribe_map_get(&map, 0));
	assert_null(scribe_map_take(&map, 0));
	for (int i = 0; i < 400000; i++) {
		uint64_t key = (uint64_t)rand() % 4096, real = key << 40; /* keys that differ only high up */

		if (rand() % 3) {
			void *value = place + 1 + (size_t)rand() % 8000;

			used += list[key] == NULL;
			list[key] = value;
			assert_int_equal(scribe_map_put(&map, real, value), 0);
		} else {
			used -= list[key] != NULL;
			assert_ptr_equal(scribe_map_take(&map, real), list[key]);
			list[key] = NULL;
		}
		assert_int_equal(map.used, used);
		key = (uint64_t)rand() % 4096;
		assert_ptr_equal(scribe_map_get(&map, key << 40), list[key]);
	}
	for (uint64_t key = 0; key < 4096; key++)
		assert_ptr_equal(scribe_map_get(&map, key << 40), list[key]);
	scribe_map_clear(&map);
	assert_int_equal(map.used, 0);
}

static void records_join(void **state)
{
	struct scribe_records *a = scribe_records_new(), *b = scribe_records_new();
	struct scribe_posix_part part = {.opens = 1, .ops = {2, 3}, .bytes = {20, 30}};
	struct scribe_file *f;

	(void)state;
	for (uint64_t id = 0; id < 300; id++) {
		f = scribe_records_at(id % 2 ? a : b, id / 2);
		assert_non_null(f);
		assert_false(scribe_file_has_posix(f));
		assert_int_equal(scribe_posix_acc_add(&f->acc, &part, NULL, NULL), 0);
		assert_true(scribe_file_has_posix(f));
	}
	f = scribe_records_at(b, 7);
	f->mode = 0600;
	f->renamed_from = 9;
	assert_true(scribe_records_speak(a));
	assert_int_equal(scribe_records_join(a, b), 0);
	assert_int_equal(scribe_records_join(a, NULL), 0);
	assert_int_equal(a->n, 150);
	f = scribe_records_at(a, 7);
	assert_int_equal(f->acc.sum.ops[1], 6);
	assert_int_equal(f->acc.sum.bytes[0], 40);
	assert_int_equal(f->mode, 0600);
	assert_int_equal(f->renamed_from, 9);
	assert_int_equal(b->n, 150);
	scribe_records_free(a);
	scribe_records_free(b);
	a = scribe_records_new();
	f = scribe_records_at(a, 1);
	f->acc.ext.v[SCRIBE_EXT_CLOSES] = 4; /* an inherited descriptor closed: not worth a log */
	assert_false(scribe_records_speak(a));
	f->acc.ext.v[SCRIBE_EXT_UNLINKS] = 1;
	assert_true(scribe_records_speak(a));
	scribe_records_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(a_good_file),
		cmocka_unit_test(map_against_a_list),
		cmocka_unit_test(records_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
