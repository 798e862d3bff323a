/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon knows without asking anybody: mounts, standard streams, shapes of accesses, records of a
 * rank, what a job leaves out, which libraries are wanted.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/records.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/config/config.h"
#include "runtime/daemon/config/exclusion_rules.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/model/access_patterns.h"
#include "runtime/daemon/model/mount_table.h"
#include "runtime/daemon/model/record_set.h"
#include "runtime/daemon/model/standard_streams.h"

/* ---- mounts ---- */

/* The mounts of a table with this text. */
static void mounts_of(struct scribe_mounts *m, const char *text)
{
	int fd = memfd_create("mtab", MFD_CLOEXEC);
	char path[64];

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	scribe_mounts_read(m, path);
	close(fd);
}

static void mounts_are_those_of_users_data(void **unused)
{
	static const char *const want[][2] = {
		{"/home/with blank", "nfs4"}, {"/scratch", "lustre"}, {"/home", "ext4"}, {"/n", "nfs"}, {"/", "ext4"}};
	struct scribe_mounts m;

	(void)unused;
	mounts_of(&m, "/dev/sda / ext4 rw 0 0\n"
		      "proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\ncgroup /sys/fs/cgroup cgroup rw 0 0\n"
		      "srv:/n /n nfs rw 0 0\n# a comment\n\n"
		      "srv:/h /home/with\\040blank nfs4 rw 0 0\n"
		      "/dev/sdb /home ext4 rw 0 0\nmds:/s /scratch lustre rw 0 0\n");
	assert_int_equal(m.n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < m.n; i++) {
		assert_string_equal(m.mount[i].path, want[i][0]);
		assert_string_equal(m.mount[i].type, want[i][1]);
	}
	scribe_mounts_clear(&m);
	assert_int_equal(m.n, 0);
	scribe_mounts_read(&m, "/nonexistent");
	assert_int_equal(m.n, 0);
	mounts_of(&m, "");
	assert_int_equal(m.n, 0);
	mounts_of(&m, "one two\nno newline");
	scribe_mounts_clear(&m);
}

static void moved_is(const struct scribe_mount_totals *t, const int64_t want[SCRIBE_CLIENT_TOTALS])
{
	assert_true(t->kept);
	for (int i = 0; i < SCRIBE_CLIENT_TOTALS; i++)
		assert_int_equal(t->total[i], want[i]);
}

/* Totals of NFS's and Lustre's clients, as they are in tests/data/node: the difference between two times. */
static void clients_of_network_file_systems(void **unused)
{
	static const int64_t home[] = {4096, 0, 3 + 2, 1, (12 + 3) * 1000, 2 * 1000};
	static const int64_t none[] = {0, 0, 0, -1, 0, 0};
	static const int64_t scratch[] = {1048576, 65536, 10 + 1 + 5, -1, 12000 + 500 + 1000, -1};
	static const int64_t lhome[] = {-1, -1, 0, -1, 0, -1};
	struct scribe_mount_totals moved[SCRIBE_MOUNTS_KEPT];
	struct scribe_mounts m = {0};

	(void)unused;
	scribe_mounts_read(&m, SCRIBE_TEST_DATA "/node/new/proc/self/mounts");
	assert_int_equal(m.n, 5);
	scribe_mounts_moved(&m, moved);
	for (size_t i = 0; i < m.n; i++)
		assert_false(moved[i].kept);
	scribe_mounts_begin(&m, SCRIBE_TEST_DATA "/node/new", "self");
	m.root = SCRIBE_TEST_DATA "/node/later";
	scribe_mounts_moved(&m, moved);
	for (size_t i = 0; i < m.n; i++) {
		const char *path = m.mount[i].path;

		if (!strcmp(path, "/home of all"))
			moved_is(&moved[i], home);
		else if (!strcmp(path, "/proj"))
			moved_is(&moved[i], none);
		else if (!strcmp(path, "/scratch"))
			moved_is(&moved[i], scratch);
		else if (!strcmp(path, "/lhome"))
			moved_is(&moved[i], lhome);
		else
			assert_false(moved[i].kept);
	}
	scribe_mounts_clear(&m);
}

static void nfs_has_what_others_leave(void **unused)
{
	char text[16384] = "", *at = text;
	struct scribe_mounts m;
	size_t nfs = 0;

	(void)unused;
	for (int i = 0; i < 20; i++)
		at += sprintf(at, "srv:/%d /n/%d nfs rw 0 0\n", i, i);
	for (int i = 0; i < 60; i++)
		at += sprintf(at, "/dev/%d /d/%d xfs rw 0 0\n", i, i);
	mounts_of(&m, text);
	assert_int_equal(m.n, SCRIBE_MOUNTS_KEPT);
	for (size_t i = 0; i < m.n; i++)
		nfs += !strcmp(m.mount[i].type, "nfs");
	assert_int_equal(nfs, SCRIBE_MOUNTS_KEPT - 60);
	for (size_t i = 1; i < m.n; i++)
		assert_true(strlen(m.mount[i - 1].path) >= strlen(m.mount[i].path));
	scribe_mounts_clear(&m);
}

/* ---- streams, shapes ---- */

static void standard_streams_are_known_by_their_names(void **unused)
{
	(void)unused;
	assert_true(scribe_is_standard_stream(scribe_record_id("<STDIN>", 7)));
	assert_true(scribe_is_standard_stream(scribe_record_id("<STDOUT>", 8)));
	assert_true(scribe_is_standard_stream(scribe_record_id("<STDERR>", 8)));
	assert_false(scribe_is_standard_stream(scribe_record_id("<STDERR>", 7)));
	assert_false(scribe_is_standard_stream(0));
}

static void shapes_are_kept_by_key(void **unused)
{
	struct scribe_access_patterns shapes = {0};
	struct scribe_access_pattern s = {.bytes = 1}, got = {.bytes = -7};

	(void)unused;
	assert_false(scribe_access_patterns_find(&shapes, 5, &got));
	assert_int_equal(got.bytes, -7); /* written only where there is one */
	for (int64_t key = 1; key <= 1000; key++) {
		s.bytes = key * 3;
		s.stride[4] = -key;
		assert_int_equal(scribe_access_patterns_keep(&shapes, key, &s), 0);
	}
	s.bytes = 77;
	assert_int_equal(scribe_access_patterns_keep(&shapes, 500, &s), 0); /* in place of the one before */
	for (int64_t key = 1; key <= 1000; key++) {
		assert_true(scribe_access_patterns_find(&shapes, key, &got));
		assert_int_equal(got.bytes, key == 500 ? 77 : key * 3);
		assert_int_equal(got.stride[4], key == 500 ? -1000 : -key);
	}
	assert_int_equal(shapes.by_key.used, 1000);
	scribe_access_patterns_clear(&shapes);
	assert_false(scribe_access_patterns_find(&shapes, 5, &got));
}

/* ---- records of a rank ---- */

static void a_record_a_name_and_module(void **unused)
{
	struct scribe_records *r = scribe_records_new();
	struct scribe_file_record *posix = scribe_records_at(r, 9);

	(void)unused;
	for (uint64_t id = 100; id < 400; id++) /* makes it grow */
		assert_int_equal(scribe_records_at(r, id)->id, id);
	assert_ptr_equal(scribe_records_at(r, 9), posix);
	assert_ptr_equal(scribe_records_find(r, SCRIBE_MOD_POSIX, 9), posix);
	assert_null(scribe_records_find(r, SCRIBE_MOD_MPIIO, 9));
	assert_null(scribe_records_find(r, SCRIBE_MOD_POSIX, 10));
	assert_null(scribe_records_find(NULL, SCRIBE_MOD_POSIX, 9));
	assert_ptr_not_equal(scribe_records_at_module(r, SCRIBE_MOD_MPIIO, 9), posix);
	assert_int_equal(scribe_records_find(r, SCRIBE_MOD_MPIIO, 9)->module, SCRIBE_MOD_MPIIO);
	assert_int_equal(r->n, 302);
	assert_int_equal(r->file[0]->id, 9); /* in order of appearance */
	assert_int_equal(r->file[1]->id, 100);
	assert_null(scribe_records_free(r));
	assert_null(scribe_records_free(NULL));
}

static void joined_records_add_up(void **unused)
{
	struct scribe_records *a = scribe_records_new(), *b = scribe_records_new();
	struct scribe_file_record *f = scribe_records_at(a, 1);

	(void)unused;
	f->mode = 0644;
	f->align = 512;
	f->acc.sum.opens = 2;
	f = scribe_records_at(b, 1);
	f->acc.sum.opens = 3;
	f->align = 4096;
	f->renamed_from = 55;
	f->file_id = 66;
	scribe_records_at(b, 2)->acc.sum.opens = 1;
	f = scribe_records_at_module(b, SCRIBE_MOD_H5D, 3);
	f->acc.ext.v[SCRIBE_H5D_READS] = 4;
	f->acc.ext.v[SCRIBE_LIB_H5D_NDIMS] = 2;
	assert_int_equal(scribe_records_join(a, NULL), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(scribe_records_join(a, b), 0);
		f = scribe_records_find(a, SCRIBE_MOD_POSIX, 1);
		assert_int_equal(f->acc.sum.opens, 5 + 3 * again);
		assert_int_equal(f->mode, 0644); /* b has none */
		assert_int_equal(f->align, 4096);
		assert_int_equal(f->renamed_from, 55);
		assert_int_equal(f->file_id, 66);
		assert_int_equal(scribe_records_find(a, SCRIBE_MOD_POSIX, 2)->acc.sum.opens, 1 + again);
		f = scribe_records_find(a, SCRIBE_MOD_H5D, 3);
		assert_int_equal(f->acc.ext.v[SCRIBE_H5D_READS], 4 + 4 * again);
		assert_int_equal(f->acc.ext.v[SCRIBE_LIB_H5D_NDIMS], 2); /* what it is, no sum */
		/* told first is kept of these */
		scribe_records_find(b, SCRIBE_MOD_POSIX, 1)->renamed_from = 99;
		scribe_records_find(b, SCRIBE_MOD_POSIX, 1)->file_id = 99;
	}
	assert_int_equal(a->n, 3);
	scribe_records_free(a);
	scribe_records_free(b);
}

static void closing_is_no_activity(void **unused)
{
	struct scribe_records *r = scribe_records_new();
	struct scribe_file_record *f = scribe_records_at(r, 1);

	(void)unused;
	assert_false(scribe_records_have_activity(NULL));
	f->acc.ext.v[SCRIBE_EXT_CLOSES] = 3;
	f->acc.ext.v[SCRIBE_EXT_CLOSE_NS] = 1000;
	f->acc.sum.close_end = 5;
	scribe_records_at_module(r, SCRIBE_MOD_STDIO, scribe_record_id("<STDOUT>", 8))->acc.sum.ops[1] = 9;
	assert_false(scribe_records_have_activity(r));
	assert_false(scribe_file_has_posix(f));
	f->acc.sum.stats = 1;
	assert_true(scribe_file_has_posix(f));
	assert_true(scribe_records_have_activity(r));
	f->acc.sum.stats = 0;
	f->acc.ext.v[SCRIBE_EXT_UNLINKS] = 1;
	assert_false(scribe_file_has_posix(f));
	assert_true(scribe_records_have_activity(r));
	f->acc.ext.v[SCRIBE_EXT_UNLINKS] = 0;
	assert_false(scribe_records_have_activity(r));
	f = scribe_records_at_module(r, SCRIBE_MOD_STDIO, 12);
	assert_true(scribe_records_have_activity(r));
	f->acc.sum.opens = 1;
	assert_false(scribe_file_has_posix(f)); /* a stream's is no POSIX record */
	scribe_records_free(r);
}

static void what_is_told_last_is_kept(void **unused)
{
	struct scribe_file_record set = {.module = SCRIBE_MOD_H5D}, var = {.module = SCRIBE_MOD_PNETCDF_VAR},
				  file = {.module = SCRIBE_MOD_H5F};
	struct scribe_ext_shard of;

	(void)unused;
	for (int i = 0; i < SCRIBE_EXT_COUNT; i++)
		of.v[i] = 100 + (uint64_t)i;
	scribe_file_properties(&set, &of);
	scribe_file_properties(&var, &of);
	scribe_file_properties(&file, &of);
	for (int i = 0; i < SCRIBE_EXT_COUNT; i++) {
		int of_set = i >= SCRIBE_LIB_H5D_NDIMS && i < SCRIBE_LIB_H5D_NDIMS + SCRIBE_LIB_H5D_PROPERTIES;

		assert_int_equal(set.acc.ext.v[i], of_set ? 100 + i : 0);
		assert_int_equal(var.acc.ext.v[i], i < SCRIBE_LIB_NC_PROPERTIES ? 100 + i : 0);
		assert_int_equal(file.acc.ext.v[i], 0);
	}
}

/* ---- what a job leaves out ---- */

#define RANKS     SCRIBE_RULE_RANK_EXCLUDE
#define NOT_RANKS SCRIBE_RULE_RANK_INCLUDE

static void ranges_of_ranks(void **unused)
{
	static const struct {
		const char *exclude, *include;
		uint32_t out; /* of ranks 0 to 9, bits */
	} cases[] = {
		{"", "", 0},
		{"3", "", 1u << 3},
		{"2:4", "", 7u << 2},
		{":2", "", 7u},
		{"8:", "", 3u << 8},
		{"*", "", 0x3ffu},
		{"*", "5", 0x3ffu & ~32u},
		{"0:9", "2:3,7:", 0x73u},
		{"1,,3,", "", 10u},
		{"4:2", "", 0},
		{":", "4", 0x3efu},
		{"", "*", 0},
		{"2", "2", 0},
		{"99999999999999999999", "", 0},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scribe_exclusion_rules r = {0}, copy;

		assert_int_equal(scribe_exclusion_rules_add(&r, RANKS, cases[i].exclude, 0, NULL), 0);
		assert_int_equal(scribe_exclusion_rules_add(&r, NOT_RANKS, cases[i].include, 0, NULL), 0);
		assert_int_equal(scribe_exclusion_rules_copy(&copy, &r), 0);
		for (int64_t rank = 0; rank < 10; rank++) {
			assert_int_equal(scribe_exclusion_rules_rank_out(&r, rank), cases[i].out >> rank & 1);
			assert_int_equal(scribe_exclusion_rules_rank_out(&copy, rank), cases[i].out >> rank & 1);
		}
		assert_false(scribe_exclusion_rules_have(&r, SCRIBE_PATTERN_NAME));
		scribe_exclusion_rules_clear(&r);
		scribe_exclusion_rules_clear(&copy);
	}
}

static void what_is_no_rule_is_refused_by_name(void **unused)
{
	static const struct {
		enum scribe_rule_kind kind;
		const char *list, *line;
	} cases[] = {
		{SCRIBE_RULE_RANK_EXCLUDE, "1,x", "'x' is no rank or range of ranks"},
		{SCRIBE_RULE_RANK_EXCLUDE, "1:2:3", "'1:2:3' is no rank or range of ranks"},
		{SCRIBE_RULE_RANK_INCLUDE, "::", "'::' is no rank or range of ranks"},
		{SCRIBE_RULE_RANK_INCLUDE, "-1", "'-1' is no rank or range of ranks"},
		{SCRIBE_RULE_NAME_EXCLUDE, "^/a,(b", "'(b' is no extended regular expression: Unmatched ( or \\("},
		{SCRIBE_RULE_APP_INCLUDE, "[z-a]", "'[z-a]' is no extended regular expression: Invalid range end"},
	};
	struct scribe_exclusion_rules r = {.compiles = true};
	struct scribe_err err;
	uint64_t modules = 5;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(scribe_exclusion_rules_add(&r, cases[i].kind, cases[i].list, 0, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].line);
	}
	assert_int_equal(scribe_exclusion_rules_modules("POSIX,NONE", &modules, &err), -EINVAL);
	assert_string_equal(err.text, "no module 'NONE'");
	assert_int_equal(modules, 5); /* written only on success */
	assert_int_equal(scribe_exclusion_rules_modules("POSIX, MPI-IO\tH5D,,", &modules, &err), 0);
	assert_int_equal(modules, 1ull << SCRIBE_MOD_POSIX | 1ull << SCRIBE_MOD_MPIIO | 1ull << SCRIBE_MOD_H5D);
	assert_int_equal(scribe_exclusion_rules_modules("*", &modules, &err), 0);
	assert_int_equal(modules, ~0ull);
	assert_int_equal(scribe_exclusion_rules_modules("*X", &modules, &err), -EINVAL);
	assert_int_equal(scribe_exclusion_rules_modules("", &modules, &err), 0);
	assert_int_equal(modules, 0);
	scribe_exclusion_rules_clear(&r);
}

static void expressions_have_limits(void **unused)
{
	struct scribe_exclusion_rules r = {0};
	struct scribe_err err;
	char text[1001];
	int rc = 0, n = 0;

	(void)unused;
	while (n < 2000 && (rc = scribe_exclusion_rules_add(&r, SCRIBE_RULE_RANK_EXCLUDE, "1", 0, &err)) == 0)
		n++;
	assert_int_equal(rc, -EINVAL);
	assert_string_equal(err.text, "more than 1024 rules");
	assert_int_equal(n, 1024);
	scribe_exclusion_rules_clear(&r);
	assert_int_equal(r.n, 0);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (n = 0; n < 200 && (rc = scribe_exclusion_rules_add(&r, SCRIBE_RULE_NAME_EXCLUDE, text, 0, &err)) == 0;)
		n++;
	assert_int_equal(rc, -EINVAL);
	assert_non_null(strstr(err.text, "...' is too long an expression"));
	assert_int_equal(n, 65536 / 1001);
	scribe_exclusion_rules_clear(&r);
}

static void expressions_go_to_the_worker(void **unused)
{
	struct scribe_exclusion_rules r = {0};
	struct {
		struct scribe_rule_text head;
		char text[8];
	} got[2];
	int fd = memfd_create("rules", MFD_CLOEXEC);

	(void)unused;
	assert_int_equal(scribe_exclusion_rules_add(&r, SCRIBE_RULE_RANK_EXCLUDE, "1", 0, NULL), 0);
	assert_int_equal(scribe_exclusion_rules_add(&r, SCRIBE_RULE_APP_INCLUDE, "^/bin/x", 0, NULL), 0);
	assert_true(scribe_exclusion_rules_have(&r, SCRIBE_PATTERN_PROGRAM));
	assert_false(scribe_exclusion_rules_have(&r, SCRIBE_PATTERN_NAME));
	assert_int_equal(scribe_exclusion_rules_add(&r, SCRIBE_RULE_NAME_EXCLUDE, "[.]tmp7", 12, NULL), 0);
	assert_int_equal(r.version, 3);
	assert_int_equal(scribe_exclusion_rules_write(&r, fd), 2);
	assert_int_equal(pread(fd, got, sizeof(got), 0), sizeof(got));
	assert_int_equal(got[0].head.of, SCRIBE_PATTERN_PROGRAM);
	assert_int_equal(got[0].head.include, 1);
	assert_int_equal(got[0].head.bytes, 8);
	assert_string_equal(got[0].text, "^/bin/x");
	assert_int_equal(got[1].head.of, SCRIBE_PATTERN_NAME);
	assert_int_equal(got[1].head.include, 0);
	assert_int_equal(got[1].head.modules, 12);
	assert_string_equal(got[1].text, "[.]tmp7");
	close(fd);
	assert_int_equal(scribe_exclusion_rules_write(&r, -1), -EIO);
	scribe_exclusion_rules_clear(&r);
}

/* ---- libraries ---- */

static void libraries_by_their_words(void **unused)
{
	const uint64_t stdio = 1ull << SCRIBE_MOD_STDIO, mpiio = 1ull << SCRIBE_MOD_MPIIO,
		       hdf5 = 1ull << SCRIBE_MOD_H5F | 1ull << SCRIBE_MOD_H5D,
		       pnetcdf = 1ull << SCRIBE_MOD_PNETCDF_FILE | 1ull << SCRIBE_MOD_PNETCDF_VAR,
		       cufile = 1ull << SCRIBE_MOD_CUFILE;
	const struct {
		const char *list;
		uint64_t modules;
	} cases[] = {
		{"none", 0},
		{"all", stdio | mpiio | hdf5 | pnetcdf | cufile},
		{"auto", mpiio | hdf5 | pnetcdf | cufile},
		{"stdio", stdio},
		{"hdf5,stdio", hdf5 | stdio},
		{"mpiio, pnetcdf", mpiio | pnetcdf},
		{"cufile", cufile},
		{"xmpiio", 0},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(scribe_libs_modules(cases[i].list), cases[i].modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_are_those_of_users_data),
		cmocka_unit_test(clients_of_network_file_systems),
		cmocka_unit_test(nfs_has_what_others_leave),
		cmocka_unit_test(standard_streams_are_known_by_their_names),
		cmocka_unit_test(shapes_are_kept_by_key),
		cmocka_unit_test(a_record_a_name_and_module),
		cmocka_unit_test(joined_records_add_up),
		cmocka_unit_test(closing_is_no_activity),
		cmocka_unit_test(what_is_told_last_is_kept),
		cmocka_unit_test(ranges_of_ranks),
		cmocka_unit_test(what_is_no_rule_is_refused_by_name),
		cmocka_unit_test(expressions_have_limits),
		cmocka_unit_test(expressions_go_to_the_worker),
		cmocka_unit_test(libraries_by_their_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
