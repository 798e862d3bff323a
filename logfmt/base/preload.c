/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for the next program. In traced programs, possibly between vfork and exec: no allocation, no locks.
 * SCRIBE_OPEN_OWN lets the kernel programs ignore these calls.
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
#define ENTRIES_MAX 4096 /* entries, and bytes of the list; beyond, nothing is changed */
#define HEAD_BYTES  256  /* as the kernel reads of a script's first line */
#define SCRIPTS_MAX 5    /* as in the kernel */

/* ELF header fields, for any word size. */
#define ELF_MAGIC   "\177ELF"
#define ELF_CLASS   4  /* one byte */
#define ELF_MACHINE 18 /* two bytes */
#define ELF_BYTES   20

/* This image. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* UNKNOWN keeps LD_PRELOAD: the loader's error message is better than an untraced program. */
enum loads { UNKNOWN, YES, NO };

static int open_own(const char *path)
{
	/* Not libc's open, which this library may interpose. O_NONBLOCK: a FIFO must not block exec. */
	return (int)syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC | O_NONBLOCK),
			    (long)SCRIBE_OPEN_OWN);
}

/* Compares with this image; follows scripts to their interpreters. */
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

/* Like execvp. */
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
			memcpy(path + n + (n > 0), name, length + 1); /* an empty entry is the working directory */
			loads = program_loads(path);
		}
		more = dirs[n] == ':';
		dirs += n + 1;
	}
	return loads;
}

/* NULL at the end. */
static const char *next_library(const char *at, size_t *ret_length)
{
	at += strspn(at, BETWEEN);
	*ret_length = strcspn(at, BETWEEN);
	return *ret_length ? at : NULL;
}

static bool is_ours(const char *library, size_t length)
{
	const char *found = strstr(library, OURS);

	return found && found < library + length;
}

/* One of ours is listed but cannot be opened. */
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

/* NULL: another variable. */
static const char *list_of(const char *entry)
{
	return strncmp(entry, VARIABLE, sizeof(VARIABLE) - 1) ? NULL : entry + sizeof(VARIABLE) - 1;
}

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
	/* In pointers: the entries, NULL, and the bytes of the new LD_PRELOAD. */
	return 2 + entries + bytes / sizeof(char *);
}

/* Without ours, as far as it fits. False: nothing remains. */
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

char *const *scribe_preload_without(char *const env[], char **buffer, size_t pointers)
{
	size_t entries = 0, kept = 0;
	char *text, *end = (char *)&buffer[pointers];

	if (pointers <= 1)
		return env;
	while (env[entries])
		entries++;
	text = (char *)&buffer[entries + 1];
	/* Another thread may have set variables since the size was computed. */
	if (entries + 1 >= pointers || (size_t)(end - text) < sizeof(VARIABLE))
		return env;
	for (size_t i = 0; i < entries && env[i]; i++) {
		const char *list = list_of(env[i]);

		if (!list) {
			buffer[kept++] = env[i];
		} else if (text) {
			memcpy(text, VARIABLE, sizeof(VARIABLE) - 1);
			if (without_ours(list, text + sizeof(VARIABLE) - 1, end))
				buffer[kept++] = text;
			text = NULL; /* further LD_PRELOAD entries are ignored by getenv, and dropped */
		}
	}
	buffer[kept] = NULL;
	return buffer;
}
