/* SPDX-License-Identifier: BSD-3-Clause */
/* Names: joined from the kernel's pieces, cleaned, resolved, excluded; rank environment. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/path.h"
#include "runtime/core/path_exclusions.h"
#include "runtime/daemon/model/path_resolve.h"
#include "runtime/daemon/model/rank_env.h"
#include "tests/harness/seed.h"

static void join_table(void **state)
{
	static const struct {
		const char *chain, *string;
		bool cut, detached;
		const char *want;
	} cases[] = {
		{"f/dir/home", NULL, false, false, "/home/dir/f"},
		{"", NULL, false, false, "/"},
		{"a", NULL, false, false, "/a"},
		{"dir/home", "x/y", false, false, "/home/dir/x/y"},
		{"", "x", false, false, "/x"},
		{"dir/home", "/etc/passwd", false, false, "/etc/passwd"},
		{"dir/home", "", false, false, "/home/dir"},
		{"dir/home", "../x", false, false, "/home/dir/../x"},
		{"c/b", NULL, true, false, "/<cut>/b/c"},
		{"b", "x", true, false, "/b/x<cut>"},
		{"memfd:x", NULL, false, true, "/<unreachable>/memfd:x"},
		{"a b\n\xff/d", NULL, false, false, "/d/a b\n\xff"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scribe_path_pieces p = {
			.chain = cases[i].chain,
			.chain_bytes = strlen(cases[i].chain),
			.string = cases[i].string ? cases[i].string : "",
			.string_bytes = cases[i].string ? strlen(cases[i].string) : 0,
			.has_string = cases[i].string != NULL,
			.cut = cases[i].cut,
			.detached = cases[i].detached,
		};
		char path[SCRIBE_NAME_CAPACITY];
		size_t n = scribe_path_join(&p, path, sizeof(path));

		assert_string_equal(path, cases[i].want);
		assert_int_equal(n, strlen(path));
	}
}

/* Too long for the room: cut, never overrun. */
static void join_is_bounded(void **state)
{
	char chain[4096], string[4096], path[100];
	struct scribe_path_pieces p = {chain, sizeof(chain), string, sizeof(string), true, true, false, false};

	(void)state;
	memset(chain, 'c', sizeof(chain));
	memset(string, 's', sizeof(string));
	for (size_t cap = 2; cap <= sizeof(path); cap++) {
		memset(path, 0x55, sizeof(path));
		assert_true(scribe_path_join(&p, path, cap) < cap);
		if (cap < sizeof(path))
			assert_int_equal(path[cap], 0x55);
	}
}

static void clean_table(void **state)
{
	static const char *const cases[][2] = {
		{"/", "/"},
		{"//", "/"},
		{"/a//b", "/a/b"},
		{"/a/./b", "/a/b"},
		{"/a/../b", "/b"},
		{"/../../a", "/a"},
		{"/a/b/..", "/a"},
		{"/a/..", "/"},
		{"/a/.", "/a"},
		{"/a/", "/a"},
		{"/...", "/..."},
		{"/a/..b/.c", "/a/..b/.c"},
		{"/a/b/c/../../d", "/a/d"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[64];

		strcpy(path, cases[i][0]);
		assert_int_equal(scribe_path_clean(path), strlen(cases[i][1]));
		assert_string_equal(path, cases[i][1]);
	}
}

static char base[64];

static int make_tree(void **state)
{
	char command[1024];

	(void)state;
	strcpy(base, "/tmp/scribe-names-XXXXXX");
	if (!mkdtemp(base))
		return -1;
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p real/sub root/in && echo x > real/sub/file && ln -s real link && "
		 "ln -s sub/file real/toleaf && ln -s /in/there root/abs && echo y > root/in/there && "
		 "ln -s nowhere dangling && ln -s ../../../../.. root/in/up",
		 base);
	return system(command);
}

static int drop_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command);
}

static void resolves(const char *root, const char *path, bool nofollow, const char *want)
{
	char from[SCRIBE_NAME_CAPACITY], wanted[256], rooted[128];
	int fd;

	snprintf(rooted, sizeof(rooted), "%s%s", root[0] == '/' ? "" : base, root);
	fd = open(rooted, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (!strcmp(root, "/")) {
		snprintf(from, sizeof(from), "%s%s", base, path);
		snprintf(wanted, sizeof(wanted), "%s%s", base, want);
	} else {
		snprintf(from, sizeof(from), "%s", path);
		snprintf(wanted, sizeof(wanted), "%s", want);
	}
	assert_int_equal(scribe_path_resolve(from, sizeof(from), fd, nofollow, scribe_path_open, NULL), strlen(wanted));
	assert_string_equal(from, wanted);
	close(fd);
}

static void resolve_in_the_process_root(void **state)
{
	char inner[80];

	(void)state;
	resolves("/", "/link/sub/file", false, "/real/sub/file");
	resolves("/", "/link/./sub/../sub/file", false, "/real/sub/file");
	resolves("/", "/real/toleaf", false, "/real/sub/file");
	resolves("/", "/real/toleaf", true, "/real/toleaf"); /* the last link itself */
	resolves("/", "/link/toleaf", true, "/real/toleaf");
	resolves("/", "/link/gone", false, "/real/gone");             /* made or removed: the parent tells */
	resolves("/", "/link/gone/more/../x", false, "/real/gone/x"); /* what is there, and the rest as text */
	resolves("/", "/dangling", false, "/nowhere");                /* it was there when the call was made */
	resolves("/", "/dangling", true, "/dangling");
	resolves("/", "/dangling/x/y", false, "/nowhere/x/y");
	/* another root: links stay inside, names are as seen from there */
	snprintf(inner, sizeof(inner), "%s/root", base);
	resolves(inner, "/abs", false, "/in/there");
	resolves(inner, "/in/up/in/there", false, "/in/there");
	resolves(inner, "/in", false, "/in");
	resolves(inner, "/", false, "/");
}

static char here[128], there[128];

/* Renames a directory to and fro. */
static void *rename_on(void *ctx)
{
	while (!__atomic_load_n((bool *)ctx, __ATOMIC_RELAXED)) {
		assert_int_equal(rename(here, there), 0);
		assert_int_equal(rename(there, here), 0);
	}
	return NULL;
}

/* What is renamed while its name is looked at keeps the name that the process has used. */
static void renamed_meanwhile(void **state)
{
	char want[SCRIBE_NAME_CAPACITY], path[SCRIBE_NAME_CAPACITY];
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool over = false;
	pthread_t thread;

	(void)state;
	snprintf(here, sizeof(here), "%s/real/sub", base);
	snprintf(there, sizeof(there), "%s/real/elsewhere", base);
	snprintf(want, sizeof(want), "%s/file", here);
	assert_int_equal(pthread_create(&thread, NULL, rename_on, &over), 0);
	for (unsigned i = 0; i < 20000; i++) {
		strcpy(path, want);
		scribe_path_resolve(path, sizeof(path), root, false, scribe_path_open, NULL);
		assert_string_equal(path, want);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	close(root);
}

static void resolve_without_a_root(void **state)
{
	char path[SCRIBE_NAME_CAPACITY] = "/a/./b/../c";

	(void)state;
	assert_int_equal(scribe_path_resolve(path, sizeof(path), -1, false, scribe_path_open, NULL), 4);
	assert_string_equal(path, "/a/c");
}

/* A file system that does not answer. */
static int no_answer(void *ctx, int root_fd, const char *path, unsigned flags)
{
	++*(unsigned *)ctx;
	return -ETIMEDOUT;
}

/* The kernel knows by heart what was looked up before, and asks about what it has never heard of. */
/*
 * How often a helper is asked for this name, whose answer is `want`. The kernel does not tell from memory while
 * anybody renames a directory: tried until `times` is seen.
 */
static void asked_for(const char *name, const char *want, unsigned times)
{
	char path[SCRIBE_NAME_CAPACITY], whole[SCRIBE_NAME_CAPACITY];
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned asked = times + 1;

	for (int i = 0; i < 1000 && asked != times; i++) {
		asked = 0;
		snprintf(path, sizeof(path), "%s/%s", base, name);
		scribe_path_resolve(path, sizeof(path), root, false, no_answer, &asked);
	}
	assert_int_equal(asked, times);
	snprintf(whole, sizeof(whole), "%s/%s", base, want);
	assert_string_equal(path, whole);
	close(root);
}

static void only_what_is_not_in_memory_is_asked_for(void **state)
{
	char path[SCRIBE_NAME_CAPACITY];
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	/* a link that is followed for the first time has its access time written */
	snprintf(path, sizeof(path), "%s/link/sub/file", base);
	scribe_path_resolve(path, sizeof(path), root, false, scribe_path_open, NULL);
	close(root);
	asked_for("link/sub/../sub/file", "real/sub/file", 0);
	asked_for("link/never-heard-of", "real/never-heard-of", 1); /* the parent is known */
	asked_for("link/nor-of-this/../x", "real/x", 3);            /* as text */
}

static void interned_once(void **state)
{
	struct scribe_name_table labels = {0};
	struct scribe_name_entry *a = scribe_name_table_intern(&labels, "/a\xff", 3);

	(void)state;
	assert_ptr_equal(a, scribe_name_table_intern(&labels, "/a\xff", 3));
	assert_ptr_equal(a, scribe_name_table_by_id(&labels, a->id));
	assert_ptr_not_equal(a, scribe_name_table_intern(&labels, "/a", 2));
	assert_null(scribe_name_table_by_id(&labels, 1));
	scribe_name_table_clear(&labels);
}

static int count_tops(void *ctx, const char *name)
{
	strcat(ctx, name);
	strcat(ctx, " ");
	return 0;
}

static void exclusion_table(void **state)
{
	static const struct {
		const char *path;
		bool out;
	} cases[] = {
		{"/etc/passwd", true},  {"/etc", true},       {"/etcetera", false},
		{"/home/etc/x", false}, {"/usr/lib/x", true}, {"/tmp/x", false},
		{"/run/x", false},      {"/data/a/x", true},  {"/data/a/keep/x", false},
		{"/data/ab", false},    {"/one/file", true},  {"/one/file2", false},
		{"/", false},
	};
	struct scribe_exclusions e = {0};
	char tops[256] = "";

	(void)state;
	assert_int_equal(scribe_exclusions_default(&e), 0);
	assert_int_equal(scribe_exclusions_exclude(&e, "/data/a/,/one/file"), 0);
	assert_int_equal(scribe_exclusions_include(&e, "/data/a/keep/"), 0);
	assert_int_equal(scribe_exclusions_exclude(&e, "relative/"), -EINVAL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (scribe_exclusions_match(&e, cases[i].path, strlen(cases[i].path)) != cases[i].out)
			fail_msg("%s", cases[i].path);
	assert_int_equal(scribe_exclusions_include(&e, "/var/mine/"), 0);
	assert_int_equal(scribe_exclusions_tops(&e, count_tops, tops), 0);
	assert_string_equal(tops, "etc dev usr bin boot lib opt sbin sys proc "); /* not var: something in it counts */
	assert_int_equal(scribe_exclusions_exclude(&e, "none,/only/"), 0);
	assert_false(scribe_exclusions_match(&e, "/etc/x", 6));
	assert_true(scribe_exclusions_match(&e, "/only/x", 7));
	scribe_exclusions_clear(&e);
}

static struct scribe_rankenv read_env(const char *text, size_t bytes, size_t piece)
{
	struct scribe_envreader r;
	static const uint64_t none[SCRIBE_RANK_SOURCES];
	struct scribe_rankenv env;

	scribe_envreader_begin(&r);
	for (size_t at = 0; at < bytes; at += piece)
		scribe_envreader_feed(&r, text + at, bytes - at < piece ? bytes - at : piece);
	scribe_envreader_end(&r, none, &env);
	return env;
}

static void rank_rule(void **state)
{
	static const struct {
		const char *env;
		enum scribe_rank_source launcher;
		int64_t rank, size, jobid;
		const char *world;
	} cases[] = {
		{"HOME=/\0", SCRIBE_RANK_NONE, -1, -1, -1, ""},
		{"PMI_RANK=3\0PMI_SIZE=4\0PMIX_RANK=9\0PMIX_NAMESPACE=old\0", SCRIBE_RANK_PMI, 3, 4, -1, ""},
		{"PMIX_RANK=1\0PMIX_NAMESPACE=ns.7\0OMPI_COMM_WORLD_SIZE=2\0", SCRIBE_RANK_PMIX, 1, 2, -1, "pmix:ns.7"},
		{"OMPI_COMM_WORLD_RANK=1\0OMPI_COMM_WORLD_SIZE=2\0", SCRIBE_RANK_OMPI, 1, 2, -1, ""},
		{"FLUX_TASK_RANK=0\0FLUX_JOB_SIZE=5\0FLUX_JOB_ID=f3\0", SCRIBE_RANK_FLUX, 0, 5, -1, "flux:f3"},
		{"SLURM_PROCID=1\0SLURM_JOB_ID=12\0", SCRIBE_RANK_NONE, -1, -1, 12, ""},
		{"SLURM_PROCID=1\0SLURM_STEP_ID=0\0SLURM_JOB_ID=12\0SLURM_STEP_NUM_TASKS=2\0", SCRIBE_RANK_SLURM, 1, 2,
		 12, "slurm:12.0"},
		{"SLURM_PROCID=0\0SLURM_STEP_ID=0\0SLURM_JOB_ID=12\0SLURM_STEP_NUM_TASKS=1\0", SCRIBE_RANK_NONE, -1, -1,
		 12, ""},
		{"PMI_RANK=2\0PMI_SIZE=2\0", SCRIBE_RANK_PMI, 2, -1, -1, ""},
		{"PMI_RANK=x\0PMI_SIZE=2\0", SCRIBE_RANK_NONE, -1, -1, -1, ""},
		{"PMI_RANK=-1\0", SCRIBE_RANK_NONE, -1, -1, -1, ""},
		{"PMI_RANK=99999999999999999999\0", SCRIBE_RANK_NONE, -1, -1, -1, ""},
		{"XPMI_RANK=1\0PMI_RANKS=2\0PMI_RANK\0=PMI_RANK=4\0", SCRIBE_RANK_NONE, -1, -1, -1, ""},
		{"PMI_RANK=1\0PMI_RANK=2\0PBS_JOBID=77.host\0", SCRIBE_RANK_PMI, 1, -1, 77, ""},
		{"A=PMI_RANK=1\0JOB_ID=5\0", SCRIBE_RANK_NONE, -1, -1, 5, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes = 0;

		while (cases[i].env[bytes])
			bytes += strlen(cases[i].env + bytes) + 1;
		/* cut anywhere: the same */
		for (size_t piece = 1; piece <= bytes; piece++) {
			struct scribe_rankenv env = read_env(cases[i].env, bytes, piece);

			assert_int_equal(env.launcher, cases[i].launcher);
			assert_int_equal(env.rank, cases[i].rank);
			assert_int_equal(env.size, cases[i].size);
			assert_int_equal(env.jobid, cases[i].jobid);
			assert_string_equal(env.world, cases[i].world);
		}
	}
}

static void long_and_wild_environments(void **state)
{
	char text[20000];

	(void)state;
	srand((unsigned)scribe_test_seed(2));
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)(rand() % 300 ? "PMI_RANK=1\0XSLURM"[rand() % 17] : 0);
		read_env(text, sizeof(text), 1 + (size_t)rand() % 5000);
	}
	assert_true(read_env("IOSCRIBE_DISABLE=1", 19, 3).disabled);
	assert_false(read_env("IOSCRIBE_DISABLE=0", 19, 3).disabled);
	memset(text, 'A', sizeof(text));
	memcpy(text, "PMI_JOBID=", 10);
	memcpy(text + sizeof(text) - 12, "\0PMI_RANK=1\0", 12);
	assert_int_equal(read_env(text, sizeof(text), 4096).rank, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(join_table),
		cmocka_unit_test(join_is_bounded),
		cmocka_unit_test(clean_table),
		cmocka_unit_test_setup_teardown(resolve_in_the_process_root, make_tree, drop_tree),
		cmocka_unit_test(resolve_without_a_root),
		cmocka_unit_test_setup_teardown(renamed_meanwhile, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(only_what_is_not_in_memory_is_asked_for, make_tree, drop_tree),
		cmocka_unit_test(interned_once),
		cmocka_unit_test(exclusion_table),
		cmocka_unit_test(rank_rule),
		cmocka_unit_test(long_and_wild_environments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
