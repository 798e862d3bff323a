/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbolic links changed by a job. */
#include "runtime/daemon/model/link_table.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/base/keyed.h"

struct scribe_link_row {
	uint64_t root;
	const char *target; /* NULL: removed, but the file system may still show a link there */
	size_t bytes;       /* of path; the target follows it */
	char path[];
};

static uint64_t key_of(uint64_t root, const char *path, size_t bytes)
{
	return scribe_keyed(path, bytes) ^ scribe_keyed_id(root);
}

static struct scribe_link_row *find(const struct scribe_link_table *t, uint64_t root, const char *path, size_t bytes)
{
	struct scribe_link_row *l = scribe_map_get(&t->by_path, key_of(root, path, bytes));

	return l && l->root == root && l->bytes == bytes && !memcmp(l->path, path, bytes) ? l : NULL;
}

static size_t size_of(const struct scribe_link_row *l)
{
	return sizeof(*l) + l->bytes + 1 + (l->target ? strlen(l->target) + 1 : 0);
}

/* Adds `by` to the count of each folder above the link. False: out of memory. */
static bool count_folders(struct scribe_link_table *t, const struct scribe_link_row *l, int by)
{
	for (size_t i = 1; i < l->bytes; i++) {
		uint64_t key = key_of(l->root, l->path, i);
		uintptr_t n;

		if (l->path[i] != '/')
			continue;
		n = (uintptr_t)scribe_map_get(&t->folders, key) + (uintptr_t)by;
		/* The number is stored as the pointer value; 0 means no entry. */
		if (!n)
			scribe_map_take(&t->folders, key);
		else if (scribe_map_put(&t->folders, key, (void *)n) < 0)
			return false;
	}
	return true;
}

static void drop(struct scribe_link_table *t, struct scribe_link_row *l)
{
	if (!l)
		return;
	scribe_map_take(&t->by_path, key_of(l->root, l->path, l->bytes));
	count_folders(t, l, -1);
	t->bytes -= size_of(l);
	free(l);
}

/* False: a limit was reached or memory ran out; nothing is known of the path then. */
static bool store(struct scribe_link_table *t, uint64_t root, const char *path, const char *target)
{
	size_t bytes = strlen(path), more = target ? strlen(target) + 1 : 0;
	struct scribe_link_row *l = malloc(sizeof(*l) + bytes + 1 + more);

	if (l) {
		l->root = root;
		l->bytes = bytes;
		memcpy(l->path, path, bytes + 1);
		l->target = target ? memcpy(l->path + bytes + 1, target, more) : NULL;
	}
	drop(t, find(t, root, path, bytes));
	/* The old entry is wrong in any case. */
	if (l && t->by_path.used < SCRIBE_LINKS_MAX && t->bytes + size_of(l) <= SCRIBE_LINKS_BYTES_MAX &&
	    count_folders(t, l, 1) && scribe_map_put(&t->by_path, key_of(root, path, bytes), l) == 0) {
		t->bytes += size_of(l);
		return true;
	}
	free(l);
	t->full = true;
	return false;
}

enum scribe_link_state scribe_links_find(const struct scribe_link_table *t, uint64_t root, const char *path,
					 const char **ret_target)
{
	const struct scribe_link_row *l = find(t, root, path, strlen(path));

	*ret_target = l ? l->target : NULL;
	if (!l)
		return SCRIBE_LINK_UNKNOWN;
	return l->target ? SCRIBE_LINK_IS : SCRIBE_LINK_IS_NOT;
}

bool scribe_links_cross(const struct scribe_link_table *t, uint64_t root, const char *path)
{
	for (size_t i = 1; path[0]; i++) {
		if (path[i] && path[i] != '/')
			continue;
		if (find(t, root, path, i))
			return true;
		if (!path[i])
			break;
	}
	return false;
}

bool scribe_links_made(struct scribe_link_table *t, uint64_t root, const char *path, const char *target)
{
	return store(t, root, path, target);
}

bool scribe_links_removed(struct scribe_link_table *t, uint64_t root, const char *path)
{
	struct scribe_link_row *l = find(t, root, path, strlen(path));

	/* Other files need no entry: they were not links. */
	return l && l->target && (store(t, root, path, NULL), true);
}

/* Links removed from the table. */
struct taken {
	struct scribe_link_row **link;
	size_t n;
};

/* The caller frees them by put_below(). */
static struct taken take_below(struct scribe_link_table *t, uint64_t root, const char *folder)
{
	size_t bytes = strlen(folder);
	struct taken r = {0};
	size_t n = (size_t)(uintptr_t)scribe_map_get(&t->folders, key_of(root, folder, bytes));

	/* Scan only if there are links below. The count is an upper bound, because keys may collide. */
	if (!n)
		return r;
	r.link = malloc(n * sizeof(struct scribe_link_row *));
	for (size_t i = 0; r.link && i < t->by_path.buckets && r.n < n; i++) {
		struct scribe_link_row *l = t->by_path.entry[i].value;

		if (l && l->root == root && l->bytes > bytes && l->path[bytes] == '/' &&
		    !memcmp(l->path, folder, bytes))
			r.link[r.n++] = l;
	}
	for (size_t i = 0; i < r.n; i++) {
		scribe_map_take(&t->by_path, key_of(root, r.link[i]->path, r.link[i]->bytes));
		count_folders(t, r.link[i], -1);
		t->bytes -= size_of(r.link[i]);
	}
	return r;
}

/* `folder` NULL: they are gone. */
static void put_below(struct scribe_link_table *t, struct taken *taken, size_t bytes, const char *folder)
{
	for (size_t i = 0; i < taken->n; i++) {
		struct scribe_link_row *l = taken->link[i];
		size_t n = folder ? strlen(folder) : 0;
		char *path = folder ? malloc(n + l->bytes - bytes + 1) : NULL;

		if (path) {
			strcpy(path, folder);
			strcpy(path + n, l->path + bytes);
			store(t, l->root, path, l->target);
			free(path);
		}
		free(l);
	}
	free(taken->link);
}

static struct scribe_link_row *take(struct scribe_link_table *t, uint64_t root, const char *path)
{
	struct scribe_link_row *l = find(t, root, path, strlen(path));

	if (l) {
		scribe_map_take(&t->by_path, key_of(root, l->path, l->bytes));
		count_folders(t, l, -1);
		t->bytes -= size_of(l);
	}
	return l;
}

bool scribe_links_moved(struct scribe_link_table *t, uint64_t root, const char *from, const char *to, bool swap)
{
	/* Both subtrees are removed before either is stored: their new paths may overlap. */
	struct taken below_from = take_below(t, root, from), below_to = take_below(t, root, to);
	struct scribe_link_row *a = take(t, root, from), *b = take(t, root, to);
	bool changed = below_from.n || below_to.n || (a && a->target) || (b && b->target);

	t->moves += (unsigned)(below_from.n + below_to.n);
	if (a || b) {
		store(t, root, to, a ? a->target : NULL);
		store(t, root, from, swap && b ? b->target : NULL);
	}
	free(a);
	free(b);
	put_below(t, &below_from, strlen(from), to);
	put_below(t, &below_to, strlen(to), swap ? from : NULL);
	/* Each moved link costs a scan: a job must not keep the daemon busy by renaming. */
	if (t->moves > SCRIBE_LINK_MOVES_MAX) {
		scribe_links_clear(t);
		t->full = true;
	}
	return changed;
}

void scribe_links_clear(struct scribe_link_table *t)
{
	for (size_t i = 0; i < t->by_path.buckets; i++)
		free(t->by_path.entry[i].value);
	scribe_map_clear(&t->by_path);
	scribe_map_clear(&t->folders);
	t->bytes = 0;
}
