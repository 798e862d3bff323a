/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a program that is about to be executed can load this library, and LD_PRELOAD without it.
 * Runs in the traced program inside its exec calls, possibly between vfork and exec, and in
 * `ioscribe run` before CMD: so it allocates nothing, takes no lock and writes only to memory of
 * the caller. It opens files by openat with SCRIBE_OPEN_OWN as a further argument, by which the
 * kernel programs recognize calls of our own libraries and do not count them.
 */
#include "logfmt/base/preload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "logfmt/rules/streams.h"

#define OURS        "/libioscribe"
#define VARIABLE    "LD_PRELOAD="
#define BETWEEN     ": "
#define ENTRIES_MAX 4096 /* of an environment, and bytes of the list: what is longer is left as it is */
#define HEAD_BYTES  256  /* of a program's file: as much as the kernel reads of a script's first line */
#define SCRIPTS_MAX 5    /* as many interpreters of interpreters as the kernel follows */

/* An ELF header, of any word size. */
#define ELF_MAGIC   "\177ELF"
#define ELF_CLASS   4  /* one byte */
#define ELF_MACHINE 18 /* two bytes */
#define ELF_BYTES   20

/* The header of the file that this is part of. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/*
 * UNKNOWN leaves LD_PRELOAD as it is: a complaint of the loader is better than an untraced program.
 */
enum loads { UNKNOWN, YES, NO };

/*
 * The system call itself: libc's open may be interposed, by this very library. O_NONBLOCK: a FIFO
 * of that name must not block the exec.
 */
static int open_own(const char *path)
{
	return (int)syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC | O_NONBLOCK),
			    (long)SCRIBE_OPEN_OWN);
}

/*
 * Can the program at `path` load what this is part of? The class and machine of its ELF header are
 * compared with those of the own image (__ehdr_start). A script is followed to its interpreter.
 * What is no ELF file and no script, or cannot be read, is UNKNOWN.
 */
static enum loads program_loads(const char *path)
{
	char head[HEAD_BYTES + 1];

	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		int fd = open_own(path);
		ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD_BYTES);

		if (fd >= 0)
			close(fd);
		if (n >= ELF_BYTES && !memcmp(head, ELF_MAGIC, sizeof(ELF_MAGIC) - 1))
			return head[ELF_CLASS] == __ehdr_start[ELF_CLASS] &&
					       !memcmp(head + ELF_MACHINE, __ehdr_start + ELF_MACHINE, 2)
				       ? YES
				       : NO;
		if (n < 3 || head[0] != '#' || head[1] != '!')
			return UNKNOWN;
		head[n] = 0;
		path = head + 2 + strspn(head + 2, " \t");
		head[path - head + (ptrdiff_t)strcspn(path, " \t\n")] = 0;
	}
	return UNKNOWN;
}

/* The same of a name that is looked for in PATH: the first program there. */
static enum loads name_loads(const char *name)
{
	const char *dirs = getenv("PATH");
	char path[SCRIBE_PATH_MAX];
	size_t length = strlen(name);
	enum loads loads = UNKNOWN;

	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (bool more = true; more && loads == UNKNOWN;) {
		size_t n = strcspn(dirs, ":");

		if (n + 1 + length < sizeof(path)) {
			memcpy(path, dirs, n);
			path[n] = '/';
			memcpy(path + n + (n > 0), name, length + 1); /* an empty one is the working directory */
			loads = program_loads(path);
		}
		more = dirs[n] == ':';
		dirs += n + 1;
	}
	return loads;
}

/* The next library of a list, and its length; NULL at the end. */
static const char *next_library(const char *at, size_t *ret_length)
{
	at += strspn(at, BETWEEN);
	*ret_length = strcspn(at, BETWEEN);
	return *ret_length ? at : NULL;
}

/* By path, not by base name alone: every library of ours has OURS in its path. */
static bool is_ours(const char *library, size_t length)
{
	const char *found = strstr(library, OURS);

	return found && found < library + length;
}

/* Is one of ours in the list, and not to be found? */
static bool is_missing(const char *list)
{
	char path[SCRIBE_PATH_MAX];
	size_t n;

	for (const char *at = list; (at = next_library(at, &n)); at += n) {
		int fd;

		if (!is_ours(at, n) || n >= sizeof(path))
			continue;
		memcpy(path, at, n);
		path[n] = 0;
		fd = open_own(path);
		if (fd < 0)
			return true;
		close(fd);
	}
	return false;
}

/* The value of an LD_PRELOAD entry of the environment; NULL: it is another variable. */
static const char *list_of(const char *entry)
{
	return strncmp(entry, VARIABLE, sizeof(VARIABLE) - 1) ? NULL : entry + sizeof(VARIABLE) - 1;
}

/*
 * The room is counted in pointers, because the caller takes it as an array on its stack: one for
 * each entry, one for NULL, and the bytes of the new LD_PRELOAD text rounded up.
 */
size_t scribe_preload_room(const char *path, bool search, char *const env[])
{
	const char *list = NULL;
	size_t entries = 0, bytes;

	if (!path || !env)
		return 1;
	for (; env[entries]; entries++)
		if (!list)
			list = list_of(env[entries]);
	if (!list || !strstr(list, OURS))
		return 1;
	bytes = sizeof(VARIABLE) + strlen(list);
	if (entries > ENTRIES_MAX || bytes > ENTRIES_MAX)
		return 1;
	if ((search && !strchr(path, '/') ? name_loads(path) : program_loads(path)) != NO && !is_missing(list))
		return 1;
	return 2 + entries + bytes / sizeof(char *);
}

/* The list without ours, at `to`, as far as there is room; false: nothing is left. */
static bool without_ours(const char *list, char *to, const char *end)
{
	char *const begin = to;
	size_t n;

	for (const char *at = list; (at = next_library(at, &n)); at += n) {
		if (is_ours(at, n) || to >= end || n >= (size_t)(end - to - 1))
			continue;
		if (to > begin)
			*to++ = ':';
		memcpy(to, at, n);
		to += n;
	}
	*to = 0;
	return to > begin;
}

/*
 * Only the first LD_PRELOAD entry is kept: getenv gives that one.
 */
char *const *scribe_preload_without(char *const env[], char **room, size_t pointers)
{
	size_t entries = 0, kept = 0;
	char *text, *end = (char *)&room[pointers];

	if (pointers <= 1)
		return env;
	while (env[entries])
		entries++;
	text = (char *)&room[entries + 1];
	/* another thread may have set variables since the room was asked for */
	if (entries + 1 >= pointers || (size_t)(end - text) < sizeof(VARIABLE))
		return env;
	for (size_t i = 0; i < entries && env[i]; i++) {
		const char *list = list_of(env[i]);

		if (!list) {
			room[kept++] = env[i];
		} else if (text) {
			memcpy(text, VARIABLE, sizeof(VARIABLE) - 1);
			if (without_ours(list, text + sizeof(VARIABLE) - 1, end))
				room[kept++] = text;
			text = NULL; /* a second one, which nobody reads, is left out */
		}
	}
	room[kept] = NULL;
	return room;
}
