// SPDX-License-Identifier: BSD-3-Clause
/*
 * Searches known libraries: in the linker's cache, in lists, and among a program's needs by the linker's rules.
 * The daemon searches the cache and the site's lists; helpers search what users can write. Must not know: BPF,
 * processes.
 */
#include "uprobes/elf/library_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uprobes/elf/elf.h"
#include "uprobes/tables/probes.h"

#define CACHE_MAGIC     "glibc-ld.so.cache1.1"
#define CACHE_BYTES_MAX (64u << 20)
#define NEEDED_MAX      512
#define DEPTH_MAX       16
#define DIRECTORIES_MAX 256   /* per list */
#define ENTRIES_MAX     20000 /* per list, over all directories */

/* glibc 2.2 and newer (formats "new" and "compat"). */
struct cache_head {
	char magic[20];
	uint32_t nlibs, strings;
	uint32_t unused[5];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* soname, path; relative to the head */
	uint32_t osversion;
	uint64_t hwcap;
};

struct scribe_find {
	char *map;
	size_t bytes;
	const struct cache_head *head;
	size_t capacity; /* from the head to the end */
};

/* "" for offsets outside the file. */
static const char *string_at(const struct scribe_find *f, uint32_t at)
{
	const char *text = (const char *)f->head + at;

	/* The cache may be damaged: a string must end within the file. */
	if (at >= f->capacity || !memchr(text, 0, f->capacity - at))
		return "";
	return text;
}

/* Without a valid cache nothing is found in it. */
static void read_cache(struct scribe_find *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < CACHE_BYTES_MAX) {
		f->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (f->map == MAP_FAILED)
			f->map = NULL;
		else
			f->bytes = (size_t)st.st_size;
	}
	close(fd);
	if (!f->map)
		return;
	/* format "compat" has an older table first */
	for (size_t at = 0; at + sizeof(struct cache_head) <= f->bytes; at += 8) {
		if (memcmp(f->map + at, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) != 0)
			continue;
		f->head = (const void *)(f->map + at);
		f->capacity = f->bytes - at;
		if (f->head->nlibs > (f->capacity - sizeof(*f->head)) / sizeof(struct cache_entry))
			f->head = NULL;
		return;
	}
}

struct scribe_find *scribe_find_new(const char *cache)
{
	struct scribe_find *f = calloc(1, sizeof(*f));

	if (f)
		read_cache(f, cache ? cache : "/etc/ld.so.cache");
	return f;
}

struct scribe_find *scribe_find_free(struct scribe_find *f)
{
	if (!f)
		return NULL;
	if (f->map)
		munmap(f->map, f->bytes);
	free(f);
	return NULL;
}

static const struct cache_entry *entry_at(const struct scribe_find *f, size_t i)
{
	return (const struct cache_entry *)(const void *)(f->head + 1) + i;
}

/* By file name; the content decides later. */
static bool is_known(const char *file)
{
	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (fnmatch(scribe_libraries[i].pattern, file, 0) == 0)
			return true;
	return false;
}

void scribe_find_cached(const struct scribe_find *f, scribe_found_fn fn, void *ctx)
{
	for (size_t i = 0; f->head && i < f->head->nlibs; i++) {
		const char *path = string_at(f, entry_at(f, i)->value);

		if (path[0] == '/' && is_known(string_at(f, entry_at(f, i)->key)))
			fn(ctx, path);
	}
}

int scribe_find_open(const char *path)
{
	int there = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;
	char link[64];

	if (there < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", there);
	/* O_PATH first: opening a FIFO would wait, and opening a device could start it. */
	if (fstat(there, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(there);
	return fd;
}

static void look_in(const char *directory, unsigned *left, scribe_found_fn fn, void *ctx)
{
	DIR *dir = opendir(directory);
	struct dirent *e;
	char path[PATH_MAX];

	if (!dir)
		return;
	for (; *left && (e = readdir(dir)); --*left)
		if (is_known(e->d_name) && snprintf(path, sizeof(path), "%s/%s", directory, e->d_name) < PATH_MAX)
			fn(ctx, path);
	closedir(dir);
}

void scribe_find_listed(const char *list, scribe_found_fn fn, void *ctx)
{
	unsigned left = ENTRIES_MAX;

	for (unsigned i = 0; *list && i < DIRECTORIES_MAX; i++) {
		size_t n = strcspn(list, ":");
		char path[PATH_MAX];
		struct stat st;

		if (n && n < sizeof(path)) {
			memcpy(path, list, n);
			path[n] = 0;
			if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
				look_in(path, &left, fn, ctx);
			else if (stat(path, &st) == 0)
				fn(ctx, path);
		}
		list += n + (list[n] == ':');
	}
}

struct walk {
	const struct scribe_find *find;
	const char *search;
	const char *origin; /* of the current file */
	const char *rpath;
	scribe_found_fn fn;
	void *ctx;
	char *seen[NEEDED_MAX];
	size_t nseen;
	int depth;
	bool more; /* more files may be used */
};

static void walk_file(struct walk *w, const char *path);

/* Replaces $ORIGIN. */
static bool expand(const struct walk *w, const char *dir, size_t n, const char *name, char *ret, size_t cap)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};

	for (int i = 0; i < 2; i++) {
		size_t k = strlen(words[i]);

		if (n >= k && !strncmp(dir, words[i], k))
			return (size_t)snprintf(ret, cap, "%s%.*s/%s", w->origin, (int)(n - k), dir + k, name) < cap;
	}
	return (size_t)snprintf(ret, cap, "%.*s/%s", (int)n, dir, name) < cap;
}

static bool in_list(const struct walk *w, const char *list, const char *name, char *ret, size_t cap)
{
	for (unsigned i = 0; list && *list && i < DIRECTORIES_MAX; i++) {
		size_t n = strcspn(list, ":;");

		if (n && expand(w, list, n, name, ret, cap) && access(ret, R_OK) == 0)
			return true;
		list += n + (list[n] != 0);
	}
	return false;
}

static bool in_cache(const struct walk *w, const char *name, char *ret, size_t cap)
{
	const struct scribe_find *f = w->find;

	for (size_t i = 0; f->head && i < f->head->nlibs; i++) {
		const char *path;

		if (strcmp(string_at(f, entry_at(f, i)->key), name) != 0)
			continue;
		path = string_at(f, entry_at(f, i)->value);
		if ((size_t)snprintf(ret, cap, "%s", path) < cap && access(ret, R_OK) == 0)
			return true;
	}
	return false;
}

static void on_needed(void *ctx, const char *name)
{
	struct walk *w = ctx;
	char path[PATH_MAX];

	for (size_t i = 0; i < w->nseen; i++)
		if (!strcmp(w->seen[i], name))
			return;
	if (w->nseen == NEEDED_MAX || !(w->seen[w->nseen] = strdup(name))) {
		w->more = true;
		return;
	}
	w->nseen++;
	/*
	 * A path is used as it is, otherwise the linker's order: rpath, LD_LIBRARY_PATH, cache, standard
	 * directories.
	 */
	if (strchr(name, '/')) {
		if (access(name, R_OK) == 0)
			walk_file(w, name);
		return;
	}
	if (in_list(w, w->rpath, name, path, sizeof(path)) || in_list(w, w->search, name, path, sizeof(path)) ||
	    in_cache(w, name, path, sizeof(path)) ||
	    in_list(w, "/lib64:/usr/lib64:/lib:/usr/lib", name, path, sizeof(path)))
		walk_file(w, path);
}

/* False: not a script. */
static bool script_of(const char *path, char *ret, size_t cap)
{
	char line[256] = "";
	int fd = scribe_find_open(path);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	char *at = line + 2;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = 0;
	return at[0] == '/' && (size_t)snprintf(ret, cap, "%s", at) < cap;
}

static void walk_file(struct walk *w, const char *path)
{
	const char *origin = w->origin, *rpath = w->rpath;
	struct scribe_elf *elf = NULL;
	char directory[PATH_MAX];
	char *slash;
	int fd;

	fd = w->depth < DEPTH_MAX ? scribe_find_open(path) : -1;
	if (fd < 0) {
		w->more = true;
		return;
	}
	if (scribe_elf_open(fd, path, &elf, NULL) == 0) {
		w->fn(w->ctx, path);
		w->more = w->more || scribe_elf_launches(elf);
		if (!realpath(path, directory))
			directory[0] = 0;
		slash = strrchr(directory, '/');
		if (slash)
			*slash = 0;
		w->origin = directory;
		/* a program's DT_RPATH also serves its libraries; not exact for DT_RUNPATH */
		if (scribe_elf_rpath(elf)[0])
			w->rpath = scribe_elf_rpath(elf);
		w->depth++;
		scribe_elf_needed(elf, on_needed, w);
		/* without dependencies the program is static */
		w->more = w->more || !w->nseen;
		w->depth--;
		w->origin = origin;
		w->rpath = rpath;
		scribe_elf_free(elf);
	} else {
		w->more = true;
	}
	close(fd);
}

bool scribe_find_needed(const struct scribe_find *f, const char *program, const char *search, scribe_found_fn fn,
			void *ctx)
{
	struct walk *w = calloc(1, sizeof(*w));
	char interpreter[PATH_MAX];
	bool more;

	if (!w)
		return true;
	w->find = f;
	w->search = search;
	w->origin = "";
	w->rpath = "";
	w->fn = fn;
	w->ctx = ctx;
	walk_file(w, script_of(program, interpreter, sizeof(interpreter)) ? interpreter : program);
	for (size_t i = 0; i < w->nseen; i++)
		free(w->seen[i]);
	more = w->more;
	free(w);
	return more;
}
