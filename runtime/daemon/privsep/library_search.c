// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs in a helper; attach/library_queue.c receives open descriptors, then an end message. The search is bounded; only
 * regular files are opened. Must not know of probes.
 */
#include "runtime/daemon/privsep/library_search.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/daemon/privsep/helper_limits.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "uprobes/elf/library_find.h"

#define TEXT_MAX        (1u << 20) /* bytes of a command line or environment */
#define WORDS_LOOKED_AT 256        /* of a command: wrappers such as `mpiexec` come first */
#define FOUND_MAX       2000       /* files per search */
#define MAPS_MAX        100000     /* lines of /proc/PID/maps, which the process controls */
#define MOUNTS_MAX      20000

struct searching {
	int sock;
	unsigned found;
	bool any; /* the program may load any library */
	const struct scribe_find *cache;
};

/* True for a FUSE mount that root did not make; also if that cannot be found out. */
static bool is_served_by_user(int fd)
{
	static const char *const mounts[] = {"/proc/1/mountinfo", "/proc/self/mountinfo"};
	bool roots = false, found = false;
	struct statfs type;
	struct statx x;

	if (fstatfs(fd, &type) < 0)
		return true;
	if (type.f_type != FUSE_SUPER_MAGIC)
		return false;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &x) < 0 || !(x.stx_mask & STATX_MNT_ID))
		return true;
	for (int i = 0; i < 2 && !found; i++) {
		FILE *f = fopen(mounts[i], "re");
		char *line = NULL;
		size_t capacity = 0;
		unsigned left = MOUNTS_MAX;

		while (f && !found && left-- && getline(&line, &capacity, f) > 0) {
			found = strtoull(line, NULL, 10) == x.stx_mnt_id;
			roots = found && strstr(line, "user_id=0,");
		}
		free(line);
		if (f)
			fclose(f);
	}
	return !roots;
}

static void hand_over(struct searching *s, int fd, const char *label, const struct scribe_helper_found *of)
{
	struct scribe_helper_found f = of ? *of : (struct scribe_helper_found){0};

	f.more = 1;
	f.by_user = is_served_by_user(fd);
	snprintf(f.label, sizeof(f.label), "%.255s", label);
	/* Closing a file on a user's FUSE mount could block the daemon. */
	if (s->found++ < FOUND_MAX && scribe_helper_send(s->sock, &f, sizeof(f), f.by_user ? -1 : fd) < 0)
		_exit(0);
}

static void on_found(void *ctx, const char *path)
{
	int fd = scribe_find_open(path);

	if (fd < 0)
		return;
	hand_over(ctx, fd, path, NULL);
	close(fd);
}

/* A file of /proc/PID, NUL-terminated, to be freed; empty if unreadable, NULL without memory. */
static char *read_text(pid_t pid, const char *what, size_t *ret_n)
{
	char path[64], *text = malloc(TEXT_MAX + 1);
	size_t n = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (text && fd >= 0 && got > 0 && n < TEXT_MAX) {
		got = read(fd, text + n, TEXT_MAX - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[n] = 0;
	*ret_n = n;
	return text;
}

static const char *variable(const char *text, size_t n, const char *name)
{
	size_t k = strlen(name);

	for (size_t at = 0; text && at < n; at += strlen(text + at) + 1)
		if (!strncmp(text + at, name, k) && text[at + k] == '=')
			return text + at + k + 1;
	return "";
}

/* The file of a program, found by PATH if `word` is a mere name. */
static bool program_of(pid_t pid, const char *word, const char *path_list, char *ret, size_t cap)
{
	struct stat st;

	if (word[0] == '/')
		snprintf(ret, cap, "%s", word);
	else if (strchr(word, '/'))
		snprintf(ret, cap, "/proc/%d/cwd/%s", (int)pid, word);
	if (strchr(word, '/'))
		return stat(ret, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
	while (*path_list) {
		size_t n = strcspn(path_list, ":");

		if (n && (size_t)snprintf(ret, cap, "%.*s/%s", (int)n, path_list, word) < cap && stat(ret, &st) == 0 &&
		    S_ISREG(st.st_mode) && (st.st_mode & 0111))
			return true;
		path_list += n + (path_list[n] == ':');
	}
	return false;
}

/* Offset of the last `words` strings; 0: there are fewer, or the text was truncated. */
static size_t last_words(const char *text, size_t n, uint32_t words)
{
	size_t at = n;

	if (!text || n >= TEXT_MAX || !n || text[n - 1])
		return 0;
	for (; words && at; words--)
		for (at--; at && text[at - 1];)
			at--;
	return at;
}

static void needed(struct searching *s, const char *program, const char *search)
{
	s->any |= scribe_find_needed(s->cache, program, search, on_found, s);
}

static void for_command(struct searching *s, const struct scribe_search *q)
{
	size_t n, nenv, first, seen = 0;
	char *text = read_text(q->pid, "cmdline", &n), *env = read_text(q->pid, "environ", &nenv);
	const char *search = variable(env, nenv, "LD_LIBRARY_PATH");
	char program[PATH_MAX];

	first = q->words ? last_words(text, n, q->words) : 0;
	s->any = q->any || !first || variable(env, nenv, "LD_PRELOAD")[0];
	for (size_t at = first; text && at < n && seen < WORDS_LOOKED_AT; at += strlen(text + at) + 1, seen++) {
		const char *word = text + at;

		/* A program that cannot load libraries uses no more words. */
		if (seen && !s->any)
			break;
		/* Options are skipped; assignments may precede a program of `env`. */
		if (word[0] == '-' || !word[0])
			continue;
		if (!strncmp(word, "LD_LIBRARY_PATH=", 16))
			scribe_find_listed(word + 16, on_found, s);
		if (program_of(q->pid, word, variable(env, nenv, "PATH"), program, sizeof(program)))
			needed(s, program, search);
	}
	if (s->any)
		scribe_find_listed(search, on_found, s);
	free(text);
	free(env);
}

static void for_program(struct searching *s, const struct scribe_search *q)
{
	static char *searched; /* the last list of directories */
	size_t n;
	char *env = read_text(q->pid, "environ", &n);
	const char *search = variable(env, n, "LD_LIBRARY_PATH");

	/* Programs of a user usually share the list; it is searched once. */
	if (!searched || strcmp(searched, search) != 0) {
		scribe_find_listed(search, on_found, s);
		free(searched);
		searched = strdup(search);
	}
	free(env);
}

static bool hand_over_mapped(struct searching *s, const struct scribe_search *q, const char *file,
			     const struct scribe_helper_found *of)
{
	char name[PATH_MAX + 64];

	for (int i = 0; i < 2; i++) {
		/* In this root and in that of the process; the inode decides. */
		struct stat st;
		bool it;
		int fd;

		if (i == 0)
			snprintf(name, sizeof(name), "%s", file);
		else
			snprintf(name, sizeof(name), "/proc/%d/root%s", (int)q->pid, file);
		fd = scribe_find_open(name);
		it = fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == q->inode;
		if (it)
			hand_over(s, fd, name, of);
		if (fd >= 0)
			close(fd);
		if (it)
			return true;
	}
	return false;
}

static bool is_first(uint64_t *seen, unsigned *n, uint64_t ino)
{
	for (unsigned i = 0; i < *n; i++)
		if (seen[i] == ino)
			return false;
	if (*n < FOUND_MAX)
		seen[(*n)++] = ino;
	return true;
}

/* Executable mappings of the inode, or of every file (0). */
static void for_mapping(struct searching *s, const struct scribe_search *q)
{
	static uint64_t seen[FOUND_MAX];
	char path[64], line[PATH_MAX + 128];
	unsigned lines = 0, n = 0;
	bool done = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)q->pid);
	maps = fopen(path, "re");
	while (maps && !done && lines++ < MAPS_MAX && fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset, ino;
		struct scribe_helper_found of = {0};
		struct scribe_search one = *q;
		char perms[8];
		int at = 0;

		if (sscanf(line, "%llx-%*x %7s %llx %*s %llu %n", &start, perms, &offset, &ino, &at) < 4 || !at ||
		    perms[2] != 'x' || line[at] != '/' || (q->inode ? ino != q->inode : !is_first(seen, &n, ino)))
			continue;
		line[strcspn(line, "\n")] = 0;
		of.start = start;
		of.offset = offset;
		one.inode = ino;
		done = hand_over_mapped(s, &one, line + at, &of) && q->inode;
	}
	if (maps)
		fclose(maps);
}

static void for_list(struct searching *s, const struct scribe_search *q)
{
	if (q->cache)
		scribe_find_cached(s->cache, on_found, s);
	scribe_find_listed(q->list, on_found, s);
}

void scribe_search_serve(const struct scribe_search *q, int sock)
{
	static struct scribe_find *cache;
	struct searching s = {.sock = sock};
	struct scribe_helper_found end = {0};

	if (scribe_helper_limits(SCRIBE_HELPER_MEMORY, SCRIBE_HELPER_SECONDS) < 0)
		_exit(1);
	if (!cache)
		cache = scribe_find_new(NULL);
	s.cache = cache;
	if (!cache)
		s.any = true;
	else if (q->what == SCRIBE_SEARCH_COMMAND)
		for_command(&s, q);
	else if (q->what == SCRIBE_SEARCH_PROGRAM)
		for_program(&s, q);
	else if (q->what == SCRIBE_SEARCH_LIST)
		for_list(&s, q);
	else if (q->what == SCRIBE_SEARCH_MAPPED || q->what == SCRIBE_SEARCH_MAPS)
		for_mapping(&s, q);
	end.any = s.any;
	/* Sent in every case, because the daemon waits for it. */
	if (scribe_helper_send(sock, &end, sizeof(end), -1) < 0)
		_exit(0);
}
