/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the pieces of a name event, and keeps the names of a job by record id. Entries never move.
 * Must not know of slots, ranks or logs.
 */
#include "runtime/daemon/model/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"

struct out {
	char *text;
	size_t bytes, cap;
};

static void put(struct out *o, const char *text, size_t bytes)
{
	size_t capacity = o->cap - 1 - o->bytes;

	if (bytes > capacity)
		bytes = capacity;
	memcpy(o->text + o->bytes, text, bytes);
	o->bytes += bytes;
	o->text[o->bytes] = 0;
}

/* "f/dir/home" -> "/home/dir/f" */
static void put_chain(struct out *o, const char *chain, size_t bytes)
{
	size_t end = bytes;

	while (end > 0) {
		size_t start = end;

		while (start > 0 && chain[start - 1] != '/')
			start--;
		if (end > start) {
			put(o, "/", 1);
			put(o, chain + start, end - start);
		}
		if (start == 0)
			break;
		end = start - 1;
	}
}

size_t scribe_path_join(const struct scribe_path_pieces *p, char *ret_path, size_t cap)
{
	struct out o = {ret_path, 0, cap};
	size_t n = p->has_string ? strnlen(p->string, p->string_bytes) : 0;
	bool absolute = n && p->string[0] == '/';

	ret_path[0] = 0;
	/* The marker keeps an incomplete chain from being taken for a path from the root. */
	if (!absolute) {
		if (p->detached)
			put(&o, "/" SCRIBE_LOST_ROOT, sizeof(SCRIBE_LOST_ROOT));
		else if (p->cut && !p->has_string)
			put(&o, "/" SCRIBE_CUT_MARK, sizeof(SCRIBE_CUT_MARK));
		put_chain(&o, p->chain, p->chain_bytes);
		if (n)
			put(&o, "/", 1);
	}
	put(&o, p->string, n);
	if (p->cut && p->has_string)
		put(&o, SCRIBE_CUT_MARK, sizeof(SCRIBE_CUT_MARK) - 1);
	if (!o.bytes)
		put(&o, "/", 1);
	return o.bytes;
}

struct scribe_name_entry *scribe_name_table_intern(struct scribe_name_table *names, const char *path, size_t bytes)
{
	uint64_t id = scribe_record_id(path, bytes);
	struct scribe_name_entry *n = scribe_map_get(&names->by_id, id);

	/* Texts with equal ids share an entry: logs rely on this hash, too. */
	if (n)
		return n;
	n = malloc(sizeof(*n) + bytes + 1);
	if (!n)
		return NULL;
	n->id = id;
	n->bytes = bytes;
	n->excluded = false;
	n->file_id = 0;
	memcpy(n->text, path, bytes);
	n->text[bytes] = 0;
	n->folded = !strncmp(n->text, SCRIBE_OVERFLOWED, strlen(SCRIBE_OVERFLOWED));
	if (scribe_map_put(&names->by_id, id, n) < 0) {
		free(n);
		return NULL;
	}
	names->bytes += bytes;
	return n;
}

struct scribe_name_entry *scribe_name_table_by_id(const struct scribe_name_table *names, uint64_t id)
{
	return scribe_map_get(&names->by_id, id);
}

void scribe_name_table_clear(struct scribe_name_table *names)
{
	for (size_t i = 0; i < names->by_id.buckets; i++)
		free(names->by_id.entry[i].value);
	scribe_map_clear(&names->by_id);
	names->bytes = 0;
}
