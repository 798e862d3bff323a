/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name table: ids in a hash of indices, names packed in blocks; pointers to them are valid until the table
 * is freed. Must not know what is printable.
 */
#include "logfmt/file/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/keyed.h"

#define BLOCK_BYTES   (64u << 10)
#define FIRST_BUCKETS 64u /* a power of two */

struct block {
	struct block *next;
	size_t used, capacity;
	char bytes[];
};

/* By first appearance. */
struct entry {
	uint64_t id;
	const char *bytes;
	size_t len;
};

struct scribe_names {
	struct block *blocks;
	struct entry *entries;
	uint32_t *buckets; /* the hash: 1 + index of an entry; 0: empty */
	size_t count, capacity;
	size_t nplaces;
};

struct scribe_names *scribe_names_new(void)
{
	return calloc(1, sizeof(struct scribe_names));
}

struct scribe_names *scribe_names_free(struct scribe_names *n)
{
	if (!n)
		return NULL;
	while (n->blocks) {
		struct block *next = n->blocks->next;

		free(n->blocks);
		n->blocks = next;
	}
	free(n->entries);
	free(n->buckets);
	free(n);
	return NULL;
}

/* The id's slot of the hash, or the empty one for a new entry. */
static size_t place_of(const struct scribe_names *n, uint64_t id)
{
	/* Keyed hash: ids come from files, so that a crafted log could otherwise make every search long. */
	size_t at = (size_t)scribe_keyed_id(id) & (n->nplaces - 1);

	while (n->buckets[at] && n->entries[n->buckets[at] - 1].id != id)
		at = (at + 1) & (n->nplaces - 1);
	return at;
}

static int grow(struct scribe_names *n)
{
	size_t nplaces = n->nplaces ? n->nplaces * 2 : FIRST_BUCKETS;
	struct entry *entries = realloc(n->entries, nplaces / 2 * sizeof(*entries));
	uint32_t *buckets;

	if (!entries)
		return -ENOMEM;
	n->entries = entries;
	if (nplaces > UINT32_MAX)
		return -ENOMEM;
	buckets = calloc(nplaces, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	free(n->buckets);
	n->buckets = buckets;
	n->nplaces = nplaces;
	n->capacity = nplaces / 2;
	for (size_t i = 0; i < n->count; i++)
		n->buckets[place_of(n, n->entries[i].id)] = (uint32_t)(i + 1);
	return 0;
}

/* A copy with NUL. */
static const char *store_name(struct scribe_names *n, const char *bytes, size_t len)
{
	struct block *b = n->blocks;
	char *to;

	if (len == SIZE_MAX)
		return NULL;
	/* Blocks, not malloc for each name: a log can have millions of names. */
	if (!b || b->capacity - b->used < len + 1) {
		size_t capacity = len + 1 > BLOCK_BYTES ? len + 1 : BLOCK_BYTES;

		b = malloc(sizeof(*b) + capacity);
		if (!b)
			return NULL;
		*b = (struct block){.next = n->blocks, .capacity = capacity};
		n->blocks = b;
	}
	to = b->bytes + b->used;
	if (len)
		memcpy(to, bytes, len);
	to[len] = 0;
	b->used += len + 1;
	return to;
}

int scribe_names_add(struct scribe_names *n, uint64_t id, const char *bytes, size_t len)
{
	struct entry *e;
	const char *kept;
	size_t at;

	if (n->count == n->capacity && grow(n))
		return -ENOMEM;
	at = place_of(n, id);
	if (n->buckets[at]) {
		e = &n->entries[n->buckets[at] - 1];
		if (e->len > 0 || len == 0)
			return 0;
	} else {
		e = &n->entries[n->count];
	}
	kept = store_name(n, bytes, len);
	if (!kept)
		return -ENOMEM;
	*e = (struct entry){id, kept, len};
	if (!n->buckets[at])
		n->buckets[at] = (uint32_t)++n->count;
	return 0;
}

int scribe_names_load(struct scribe_names *n, struct scribe_reader *r, struct scribe_err *err)
{
	struct scribe_name name;
	int rc;

	scribe_reader_rewind_names(r);
	while ((rc = scribe_reader_next_name(r, &name)) > 0) {
		if (scribe_names_add(n, name.id, name.bytes, name.len))
			return scribe_err_set(err, -ENOMEM, "out of memory for names");
	}
	if (rc < 0 && err)
		*err = *scribe_reader_error(r);
	return rc;
}

const char *scribe_names_find(const struct scribe_names *n, uint64_t id, size_t *ret_len)
{
	size_t at;

	if (n->nplaces == 0)
		return NULL;
	at = place_of(n, id);
	if (!n->buckets[at])
		return NULL;
	if (ret_len)
		*ret_len = n->entries[n->buckets[at] - 1].len;
	return n->entries[n->buckets[at] - 1].bytes;
}

size_t scribe_names_count(const struct scribe_names *n)
{
	return n->count;
}

struct scribe_name scribe_names_at(const struct scribe_names *n, size_t i)
{
	return (struct scribe_name){n->entries[i].id, n->entries[i].bytes, n->entries[i].len};
}
