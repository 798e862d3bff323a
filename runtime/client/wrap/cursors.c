/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cursors of files: last operation and latest ends. They belong to a file, so reopening continues one and two
 * handles share one. Blocks are mapped on demand, never freed. Callers hold the lock of streams.c. Must not
 * know: slots, daemon.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/client/wrap/cursors.h"

#define CURSORS 4096u /* per block */
/* 3/4: short probing */
#define CURSORS_FILL 3072u
#define BLOCKS_MAX   64
#define PREFIX_MAX   16
#define PATH_BYTES   4096

/* Never freed: a forked child has none. */
struct scribe_cursors {
	struct scribe_cursors *next;
	uint32_t used;
	struct {
		uint64_t key; /* 0: empty */
		struct scribe_cursor cursor;
	} at[CURSORS];
};

/* NULL: no memory, or BLOCKS_MAX full blocks. */
struct scribe_cursor *scribe_cursor_of(struct scribe_cursors **cursors, uint64_t key)
{
	struct scribe_cursors **block = cursors;

	key += !key;
	/* Key 0 marks an empty entry. */
	for (int n = 0; n < BLOCKS_MAX; n++, block = &(*block)->next) {
		uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 52);

		if (!*block) {
			struct scribe_cursors *b =
				mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (b == MAP_FAILED)
				return NULL;
			*block = b;
		}
		while ((*block)->at[i].key && (*block)->at[i].key != key)
			i = (i + 1) % CURSORS;
		if ((*block)->at[i].key)
			return &(*block)->at[i].cursor;
		if ((*block)->used >= CURSORS_FILL)
			continue;
		(*block)->used++;
		(*block)->at[i].key = key;
		return &(*block)->at[i].cursor;
	}
	return NULL;
}

/* FNV-1a, ignoring "//" and "/./". */
static uint64_t add_path(uint64_t h, const char *path, char *last)
{
	for (const char *p = path; *p; p++) {
		while (*last == '/' && (p[0] == '/' || (p[0] == '.' && (p[1] == '/' || !p[1]))))
			p++;
		if (!*p)
			break;
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
		*last = *p;
	}
	return h;
}

/* Never 0. Different spellings through links are different files. */
uint64_t scribe_file_name(const char *path)
{
	size_t prefix = strcspn(path, ":/");
	uint64_t h = 0xcbf29ce484222325ull;
	char from[PATH_BYTES], last = 0;
	int kept = errno;

	if (prefix < PREFIX_MAX && path[prefix] == ':')
		path += prefix + 1; /* of the file system ("ufs:") */
	if (path[0] != '/' && getcwd(from, sizeof(from))) {
		h = add_path(h, from, &last);
		h = add_path(h, "/", &last);
	}
	h = add_path(h, path, &last);
	errno = kept;
	return h + !h;
}
