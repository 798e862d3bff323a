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

#include "logfmt/base/old_names.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/config/config.h"
#include "runtime/daemon/model/record_set.h"
#include "runtime/daemon/tables/job_env.h"
#include "tests/harness/seed.h"

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
		{"collective = maybe", "collective: 'maybe' is none of auto, yes, no"},
		{"log_dir = here", "log_dir: 'here' is not an absolute path"},
		{"log_layout = deep", "log_layout: 'deep' is neither dated nor flat"},
		{"bpf_attach_mode = kprobe",
		 "bpf_attach_mode: 'kprobe' is none of auto, tp_btf, tp_btf_probe, tracepoint"},
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
		assert_int_equal(scribe_config_text(&c, cases[i][0], strlen(cases[i][0]), "options", &err), -EINVAL);
		if (!strstr(err.text, cases[i][1]))
			fail_msg("'%s' instead of '%s'", err.text, cases[i][1]);
		scribe_config_clear(&c);
	}
}

static void a_good_file(void **state)
{
	static const char text[] =
		"# site\n  records = 2000  \nprocesses=77\nlisted_processes = 9\nmem_alignment = 64\n"
		"all_types = yes\nexit_grace_ms = 5\nfinalize_timeout_ms = 6\ncollective = no\nruntime = no\n"
		"bpf_attach_mode = tp_btf\nmodules = NULL\nexclude = none,/x/\ninclude = /x/y/\n"
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
	assert_int_equal(c.max_listed_processes, 9);
	assert_int_equal(c.mem_alignment, 64);
	assert_true(c.all_types);
	assert_int_equal(c.exit_grace_ms, 5);
	assert_int_equal(c.finalize_timeout_ms, 6);
	assert_string_equal(c.collective, "no");
	assert_false(c.runtime);
	assert_string_equal(c.bpf_attach_mode, "tp_btf");
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

static void set(struct scribe_config *c, const char *text)
{
	struct scribe_err err = {0};

	assert_int_equal(scribe_config_text(c, text, strlen(text), "options", &err), 0);
}

static void old_names_are_accepted_and_known(void **state)
{
	static const char none[] = "# grace_ms = 5\nexit_grace_ms=5\nlog_dir = grace_ms = 5\nattach";
	static const char lines[] =
		"listed_processes = 9\ngrace_ms=5\n deadline_ms = 6\nsilent_ms = 700\nattach = tp_btf\n"
		"libraries = hdf5\nstdio_inside = no\nmpiio_inside = no\n";
	static const char all[] =
		"x: listed_processes (now max_listed_processes), grace_ms (now exit_grace_ms), "
		"deadline_ms (now finalize_timeout_ms), silent_ms (now client_idle_timeout_ms), "
		"attach (now bpf_attach_mode), libraries (now trace_libraries), stdio_inside (now stdio_wrap), "
		"mpiio_inside (now mpiio_wrap)";
	char text[SCRIBE_OLD_KEYS_TEXT_MAX];
	struct scribe_config c;
	struct scribe_err err = {0};

	(void)state;
	assert_int_equal(scribe_config_default(&c, &err), 0);
	set(&c, "max_listed_processes = 8\nIOSCRIBE_STDIO_WRAP=yes\nIOSCRIBE_grace_ms=77\nIOSCRIBE_=1\n");
	assert_int_equal(c.old_keys, 0);
	assert_int_equal(c.exit_grace_ms, 2000);
	set(&c, lines);
	assert_int_equal(c.max_listed_processes, 9);
	assert_int_equal(c.exit_grace_ms, 5);
	assert_int_equal(c.finalize_timeout_ms, 6);
	assert_int_equal(c.client_idle_timeout_ms, 700);
	assert_string_equal(c.bpf_attach_mode, "tp_btf");
	assert_string_equal(c.trace_libraries, "hdf5");
	assert_false(c.stdio_wrap);
	assert_false(c.mpiio_wrap);
	assert_string_equal(scribe_old_keys_text("x: ", c.old_keys, text, sizeof(text)), all);
	assert_int_equal(scribe_old_keys_in(lines, sizeof(lines) - 1), c.old_keys);
	assert_int_equal(scribe_old_keys_in(none, strlen(none)), 0);
	assert_string_equal(scribe_old_keys_text("x: ", 0, text, sizeof(text)), "");
	/* whose a key is does not depend on its name; one that was not set is not told of */
	c.old_keys = 0;
	c.locked = true;
	assert_int_equal(scribe_config_set(&c, "attach", "auto", &err), -EPERM);
	assert_string_equal(err.text, "bpf_attach_mode: only the site's configuration sets this");
	assert_int_equal(c.old_keys, 0);
	scribe_config_clear(&c);
}

static void map_against_a_list(void **state)
{
	static void *list[4096];
	static char place[8192];
	struct scribe_map map = {0};
	size_t used = 0;

	(void)state;
	srand((unsigned)scribe_test_seed(3));
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
	struct scribe_posix_shard shard = {.opens = 1, .ops = {2, 3}, .bytes = {20, 30}};
	struct scribe_file_record *f;

	(void)state;
	for (uint64_t id = 0; id < 300; id++) {
		f = scribe_records_at(id % 2 ? a : b, id / 2);
		assert_non_null(f);
		assert_false(scribe_file_has_posix(f));
		assert_int_equal(scribe_posix_acc_add(&f->acc, &shard, NULL, NULL), 0);
		assert_true(scribe_file_has_posix(f));
	}
	f = scribe_records_at(b, 7);
	f->mode = 0600;
	f->renamed_from = 9;
	assert_true(scribe_records_have_activity(a));
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
	assert_false(scribe_records_have_activity(a));
	f->acc.ext.v[SCRIBE_EXT_UNLINKS] = 1;
	assert_true(scribe_records_have_activity(a));
	scribe_records_free(a);
}

/* An environment's settings fill their room to the last byte, and not beyond, whatever their lengths and pieces. */
static void settings_fill_their_room(void **state)
{
	static const char head[] = "IOSCRIBE_X=", tail[] = "IOSCRIBE_LAST=1";
	struct {
		struct scribe_jobenv e;
		char guard[64];
	} in;
	char line[192], guard[sizeof(in.guard)];
	size_t fullest = 0;

	memset(guard, 0x5a, sizeof(guard));
	for (size_t bytes = sizeof(head); bytes < sizeof(line); bytes++) {
		memset(&in.e, 0, sizeof(in.e));
		memset(in.guard, 0x5a, sizeof(in.guard));
		memset(line, 'x', sizeof(line));
		memcpy(line, head, sizeof(head) - 1);
		line[bytes - 1] = 0;
		for (size_t n = 0; n < 2 * SCRIBE_JOBENV_MAX / bytes; n++) {
			scribe_jobenv_feed(&in.e, line, bytes / 2);
			scribe_jobenv_feed(&in.e, line + bytes / 2, bytes - bytes / 2);
			assert_true(in.e.bytes <= in.e.at && in.e.at <= sizeof(in.e.text));
		}
		assert_int_equal(in.e.bytes, SCRIBE_JOBENV_MAX / bytes * bytes);
		scribe_jobenv_feed(&in.e, tail, sizeof(tail));
		assert_int_equal(in.e.bytes % bytes, SCRIBE_JOBENV_MAX % bytes >= sizeof(tail) ? sizeof(tail) : 0);
		assert_int_equal(in.e.text[in.e.bytes - 1], '\n');
		assert_memory_equal(in.guard, guard, sizeof(guard));
		if (in.e.bytes > fullest)
			fullest = in.e.bytes;
	}
	assert_int_equal(fullest, SCRIBE_JOBENV_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(a_good_file),
		cmocka_unit_test(old_names_are_accepted_and_known),
		cmocka_unit_test(map_against_a_list),
		cmocka_unit_test(records_join),
		cmocka_unit_test(settings_fill_their_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
