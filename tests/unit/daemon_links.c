/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job has done to symbolic links: the table, and paths resolved by it alone. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/daemon/model/path_resolve.h"
#include "tests/harness/seed.h"

static struct scribe_link_table t;

static void is(uint64_t root, const char *path, enum scribe_link_state want, const char *says)
{
	const char *target;

	assert_int_equal(scribe_links_find(&t, root, path, &target), want);
	if (says)
		assert_string_equal(target, says);
}

static void made_moved_removed(void **state)
{
	(void)state;
	assert_true(scribe_links_made(&t, 0, "/a/l", "x"));
	is(0, "/a/l", SCRIBE_LINK_IS, "x");
	is(1, "/a/l", SCRIBE_LINK_UNKNOWN, NULL); /* another root */
	is(0, "/a", SCRIBE_LINK_UNKNOWN, NULL);
	assert_true(scribe_links_cross(&t, 0, "/a/l/f"));
	assert_true(scribe_links_cross(&t, 0, "/a/l"));
	assert_false(scribe_links_cross(&t, 0, "/a/ll"));
	assert_false(scribe_links_cross(&t, 1, "/a/l"));
	/* what is no link changes nothing */
	assert_false(scribe_links_moved(&t, 0, "/b/f", "/b/g", false));
	assert_false(scribe_links_removed(&t, 0, "/b/g"));
	/* over a link, and with its folder */
	assert_true(scribe_links_made(&t, 0, "/a/n", "y"));
	assert_true(scribe_links_moved(&t, 0, "/a/n", "/a/l", false));
	is(0, "/a/l", SCRIBE_LINK_IS, "y");
	is(0, "/a/n", SCRIBE_LINK_IS_NOT, NULL);
	assert_true(scribe_links_moved(&t, 0, "/a", "/c", false));
	is(0, "/a/l", SCRIBE_LINK_UNKNOWN, NULL);
	is(0, "/c/l", SCRIBE_LINK_IS, "y");
	/* both names */
	assert_true(scribe_links_made(&t, 0, "/d/l", "z"));
	assert_true(scribe_links_moved(&t, 0, "/c", "/d", true));
	is(0, "/c/l", SCRIBE_LINK_IS, "z");
	is(0, "/d/l", SCRIBE_LINK_IS, "y");
	assert_true(scribe_links_removed(&t, 0, "/d/l"));
	is(0, "/d/l", SCRIBE_LINK_IS_NOT, NULL);
	assert_false(scribe_links_removed(&t, 0, "/d/l"));
	scribe_links_clear(&t);
	assert_int_equal(t.bytes, 0);
	memset(&t, 0, sizeof(t));
}

static void limits(void **state)
{
	char path[64];

	(void)state;
	for (unsigned i = 0; i < SCRIBE_LINKS_MAX; i++) {
		snprintf(path, sizeof(path), "/f/%u", i);
		assert_true(scribe_links_made(&t, 0, path, "x"));
	}
	assert_false(t.full);
	assert_false(scribe_links_made(&t, 0, "/f/more", "x"));
	assert_true(t.full);
	is(0, "/f/more", SCRIBE_LINK_UNKNOWN, NULL);
	/* with their folders so many links are moved, then nothing is known any more */
	for (unsigned i = 0; i < SCRIBE_LINK_MOVES_MAX / SCRIBE_LINKS_MAX; i++)
		assert_true(scribe_links_moved(&t, 0, i % 2 ? "/g" : "/f", i % 2 ? "/f" : "/g", false));
	is(0, "/f/1", SCRIBE_LINK_IS, "x");
	assert_true(scribe_links_moved(&t, 0, "/f", "/g", false));
	is(0, "/g/1", SCRIBE_LINK_UNKNOWN, NULL);
	assert_int_equal(t.bytes, 0);
	scribe_links_clear(&t);
	memset(&t, 0, sizeof(t));
}

/* ---- random changes of a real folder: the table alone says what the file system says ---- */

static char base[64];

static void make_base(void)
{
	char temp[] = "/tmp/ioscribe-links.XXXXXX", *real;

	assert_non_null(mkdtemp(temp));
	real = realpath(temp, NULL);
	assert_non_null(real);
	assert_true(snprintf(base, sizeof(base), "%s", real) < (int)sizeof(base));
	free(real);
}

static void drop_base(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	assert_int_equal(system(command), 0);
}

/* A path of one to four components that may be there. */
static void some_path(char *path, size_t cap)
{
	unsigned n = 1 + (unsigned)rand() % 4;
	size_t at = (size_t)snprintf(path, cap, "%s", base);

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(path + at, cap - at, "/%s",
				       rand() % 12 ? (const char *[]){"a", "b", "c"}[rand() % 3] : "..");
}

/* The name of the entry itself: its folder resolved. False: it has none. */
static bool entry(const char *path, char *ret, size_t cap)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *last = strrchr(path, '/');

	snprintf(folder, sizeof(folder), "%.*s", (int)(last - path), path);
	if (!strcmp(last, "/..") || !realpath(folder, real) || strncmp(real, base, strlen(base)) != 0)
		return false;
	return (size_t)snprintf(ret, cap, "%s%s", real, last) < cap;
}

static void change(void)
{
	char path[PATH_MAX], other[PATH_MAX], at[PATH_MAX], from[PATH_MAX];
	const char *target;

	some_path(path, sizeof(path));
	some_path(other, sizeof(other));
	if (!entry(path, at, sizeof(at)))
		return;
	switch (rand() % 8) {
	case 0:
	case 1:
		mkdir(path, 0755);
		break;
	case 2:
		rmdir(path);
		break;
	case 3:
		if (unlink(path) == 0)
			scribe_links_removed(&t, 0, at);
		break;
	case 4:
	case 5:
		target = rand() % 2 ? other : (const char *[]){"a", "b/c", "../a", "."}[rand() % 4];
		if (symlink(target, path) == 0)
			assert_true(scribe_links_made(&t, 0, at, target));
		break;
	default: {
		bool swap = rand() % 2;

		if (entry(other, from, sizeof(from)) &&
		    syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, path, swap ? RENAME_EXCHANGE : 0) == 0 &&
		    strcmp(from, at) != 0)
			scribe_links_moved(&t, 0, from, at, swap);
	}
	}
	t.moves = 0;
}

static void as_the_file_system_says(void **state)
{
	static struct scribe_path_walk walk;
	char path[PATH_MAX], real[PATH_MAX];
	unsigned compared = 0;

	(void)state;
	srand((unsigned)scribe_test_seed(1));
	make_base();
	for (unsigned i = 0; i < 20000; i++) {
		change();
		some_path(path, sizeof(path));
		if (!realpath(path, real))
			continue;
		scribe_path_walk_begin(&walk, path, false);
		assert_true(scribe_path_walk(&walk, -1, &t, 0));
		assert_string_equal(walk.done, real);
		compared++;
	}
	assert_true(compared > 1000);
	assert_false(t.full);
	scribe_links_clear(&t);
	drop_base();
}

/* The file system is further than the events: what the table knows holds, the rest is looked at. */
static void over_the_file_system(void **state)
{
	static struct scribe_path_walk walk;
	char path[PATH_MAX], want[PATH_MAX], command[256], name[SCRIBE_NAME_CAPACITY];
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	make_base();
	snprintf(command, sizeof(command), "cd %s && mkdir real later && ln -s real old && ln -s later l && ls old l",
		 base);
	assert_int_equal(system(command), 0);
	/* the job's link l leads to `old` at that time, which another has made */
	snprintf(path, sizeof(path), "%s/l", base);
	assert_true(scribe_links_made(&t, 0, path, "old"));
	snprintf(path, sizeof(path), "%s/l/f", base);
	snprintf(want, sizeof(want), "%s/real/f", base);
	assert_false(scribe_path_is_plain(path, root, false, &t, 0));
	scribe_path_walk_begin(&walk, path, false);
	while (!scribe_path_walk(&walk, root, &t, 0)) { /* a link's access time is written at its first use */
		strcpy(name, walk.done);
		scribe_path_resolve(name, sizeof(name), root, false, scribe_path_open, NULL);
		scribe_path_walk_answer(&walk, name);
	}
	assert_string_equal(walk.done, want);
	/* the last link itself; and what no link is on the way of */
	snprintf(path, sizeof(path), "%s/l", base);
	scribe_path_walk_begin(&walk, path, true);
	assert_true(scribe_path_walk(&walk, root, &t, 0));
	assert_string_equal(walk.done, path);
	snprintf(path, sizeof(path), "%s/real", base);
	assert_true(scribe_path_is_plain(path, root, false, &t, 0));
	snprintf(path, sizeof(path), "%s/old/x", base);
	assert_false(scribe_path_is_plain(path, root, true, &t, 0));
	/* links that lead to each other end */
	snprintf(path, sizeof(path), "%s/p", base);
	assert_true(scribe_links_made(&t, 0, path, "p"));
	scribe_path_walk_begin(&walk, path, false);
	assert_true(scribe_path_walk(&walk, root, &t, 0));
	assert_false(walk.cut);
	/* what leads out of a link's former place is looked at, what is below is not */
	snprintf(path, sizeof(path), "%s/p", base);
	assert_true(scribe_links_removed(&t, 0, path));
	snprintf(path, sizeof(path), "%s/p/../l/x", base);
	scribe_path_walk_begin(&walk, path, true);
	assert_true(scribe_path_walk(&walk, root, &t, 0) || strstr(walk.done, "/old"));
	assert_int_equal(walk.changed, 0);
	/* thousands of components: the walk ends, and says that it has not looked at all */
	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "/p", 3);
	strcpy(want, path);
	assert_false(scribe_path_is_plain(path, root, false, &t, 0));
	scribe_path_walk_begin(&walk, path, false);
	assert_true(scribe_path_walk(&walk, -1, &t, 0));
	assert_true(walk.cut);
	assert_string_equal(walk.done, want);
	scribe_links_clear(&t);
	close(root);
	drop_base();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_moved_removed),
		cmocka_unit_test(limits),
		cmocka_unit_test(as_the_file_system_says),
		cmocka_unit_test(over_the_file_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
