// SPDX-License-Identifier: BSD-3-Clause
/* What LD_PRELOAD holds for a program that can load ours, and for one that cannot. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
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

#include "logfmt/base/preload.h"

static char here[] = "/tmp/ioscribe-unit.XXXXXX", ours[PATH_MAX], same[PATH_MAX], other[PATH_MAX];

static void file_of(char *path, const char *name, const void *bytes, size_t n)
{
	int fd;

	snprintf(path, PATH_MAX, "%s/%s", here, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* A program of this machine, and one of 32 bits: the header of this one. */
static int make(void **state)
{
	char head[sizeof(Elf64_Ehdr)];
	int fd = open("/proc/self/exe", O_RDONLY);

	(void)state;
	if (!mkdtemp(here) || fd < 0 || read(fd, head, sizeof(head)) != (ssize_t)sizeof(head))
		return -1;
	close(fd);
	file_of(same, "same", head, sizeof(head));
	head[EI_CLASS] = head[EI_CLASS] == ELFCLASS32 ? ELFCLASS64 : ELFCLASS32;
	file_of(other, "other", head, 52); /* the size of such a header */
	file_of(ours, "libioscribe.so", "", 0);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	for (const char *const *name = (const char *const[]){"same", "other", "libioscribe.so", "script", "loop", NULL};
	     *name; name++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", here, *name);
		unlink(path);
	}
	return rmdir(here);
}

/* What a program gets for LD_PRELOAD=`list`, "-" for none; the rest of the environment stays. */
static const char *given(const char *program, bool search, const char *list)
{
	static char entry[8192], got[8192];
	char *env[] = {(char *)"A=1", entry, (char *)"B=2", NULL};
	char *const *after;
	size_t i;

	snprintf(entry, sizeof(entry), "LD_PRELOAD=%s", list);
	{
		char *room[scribe_preload_room(program, search, env)];

		after = scribe_preload_without(env, room, sizeof(room) / sizeof(room[0]));
		snprintf(got, sizeof(got), "-");
		for (i = 0; after[i]; i++)
			if (!strncmp(after[i], "LD_PRELOAD=", 11))
				snprintf(got, sizeof(got), "%s", after[i] + 11);
		assert_int_equal(i, strcmp(got, "-") ? 3 : 2);
		assert_string_equal(after[0], "A=1");
		assert_string_equal(after[i - 1], "B=2");
		assert_string_equal(entry + 11, list); /* the caller's is as it was */
	}
	return got;
}

static const char *list_of(const char *before, const char *after)
{
	static char list[PATH_MAX + 8192];

	snprintf(list, sizeof(list), "%s%s%s", before, ours, after);
	return list;
}

static void lists(void **state)
{
	static char many[8000];

	(void)state;
	assert_string_equal(given(same, false, list_of("", "")), list_of("", ""));
	assert_string_equal(given(other, false, list_of("", "")), "-");
	assert_string_equal(given(other, false, list_of("/a.so:", "")), "/a.so");
	assert_string_equal(given(other, false, list_of(" :/a.so: :", ":/x/libioscribe-inside.so b.so")), "/a.so:b.so");
	assert_string_equal(given(other, false, "/a.so b.so"), "/a.so b.so"); /* none of ours: nothing is touched */
	assert_string_equal(given(other, false, ""), "");
	/* Not to be found, in a program that could load it. */
	assert_string_equal(given(same, false, list_of("/a.so:", ".gone")), "/a.so");
	memset(many, 'x', sizeof(many) - 1);
	assert_string_equal(given(other, false, list_of(many, "")), list_of(many, "")); /* too long to be looked at */
}

static void no_environment(void **state)
{
	char *const none[] = {NULL};
	char *room[1];

	(void)state;
	assert_int_equal(scribe_preload_room(other, false, none), 1);
	assert_int_equal(scribe_preload_room(other, false, NULL), 1);
	assert_int_equal(scribe_preload_room(NULL, true, none), 1);
	assert_ptr_equal(scribe_preload_without(none, room, 1), none);
	assert_null(scribe_preload_without(NULL, room, 1));
}

static void scripts(void **state)
{
	char path[PATH_MAX], text[2 * PATH_MAX];

	(void)state;
	file_of(path, "script", text, (size_t)snprintf(text, sizeof(text), "#! \t%s -x\necho\n", other));
	assert_string_equal(given(path, false, ours), "-");
	file_of(path, "script", text, (size_t)snprintf(text, sizeof(text), "#!%s", same));
	assert_string_equal(given(path, false, ours), ours);
	file_of(path, "script", "#!", 2);
	assert_string_equal(given(path, false, ours), ours);
	file_of(path, "script", "#!\n", 3);
	assert_string_equal(given(path, false, ours), ours);
	memset(text, '/', sizeof(text));
	file_of(path, "script", memcpy(text, "#!", 2), 300); /* an interpreter longer than what is read */
	assert_string_equal(given(path, false, ours), ours);
	snprintf(text, sizeof(text), "#!%s/loop\n", here);
	file_of(path, "loop", text, strlen(text));
	assert_string_equal(given(path, false, ours), ours);
	file_of(path, "script", "echo\n", 5);
	assert_string_equal(given(path, false, ours), ours); /* a shell's, as execvp has it */
	assert_string_equal(given("/nowhere", false, ours), ours);
	assert_string_equal(given(here, false, ours), ours);
}

static void searched(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "/nowhere:/:%s", here);
	setenv("PATH", path, 1);
	assert_string_equal(given("other", true, ours), "-");
	assert_string_equal(given("other", false, ours), ours); /* no such file in the working directory */
	assert_string_equal(given("same", true, ours), ours);
	assert_string_equal(given("neither", true, ours), ours);
	assert_string_equal(given("", true, ours), ours);
	assert_int_equal(chdir(here), 0);
	assert_string_equal(given("./other", true, ours), "-");
	setenv("PATH", "", 1); /* the working directory */
	assert_string_equal(given("other", true, ours), "-");
	setenv("PATH", "/nowhere:", 1);
	assert_string_equal(given("other", true, ours), "-");
	unsetenv("PATH");
	assert_string_equal(given("sh", true, ours), ours);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(no_environment),
		cmocka_unit_test(scripts),
		cmocka_unit_test(searched),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
