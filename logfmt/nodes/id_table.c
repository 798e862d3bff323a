/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts by module and id with open addressing; entries are never removed. The survey of a merge owns and clears
 * it.
 */
#include "logfmt/nodes/id_table.h"

#include <errno.h>
#include <stdlib.h>

#include "logfmt/base/keyed.h"

#define FIRST_SLOTS 256 /* a power of two */

/* The entry, or the empty one for it. */
static struct scribe_id_seen *slot_of(const struct scribe_id_table *t, uint32_t module, uint64_t id)
{
	const uint64_t key[] = {id, module};
	size_t at = (size_t)scribe_keyed(key, sizeof(key)) & (t->slots - 1);

	while (t->slot[at].records && (t->slot[at].id != id || t->slot[at].module != module))
		at = (at + 1) & (t->slots - 1);
	return &t->slot[at];
}

/* On failure the table is unchanged. */
static int enlarge(struct scribe_id_table *t)
{
	struct scribe_id_table bigger = {.slots = t->slots ? t->slots * 2 : FIRST_SLOTS, .used = t->used};

	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < t->slots; i++)
		if (t->slot[i].records)
			*slot_of(&bigger, t->slot[i].module, t->slot[i].id) = t->slot[i];
	free(t->slot);
	*t = bigger;
	return 0;
}

int scribe_id_table_add(struct scribe_id_table *t, const struct scribe_id_seen *seen)
{
	struct scribe_id_seen *p;

	/* At three quarters full searches become long. A job can have an id per file and node: 24 bytes each. */
	if (t->used * 4 >= t->slots * 3 && enlarge(t) < 0)
		return -ENOMEM;
	p = slot_of(t, seen->module, seen->id);
	if (!p->records) {
		*p = *seen;
		t->used++;
		return 0;
	}
	p->records += seen->records;
	p->shared = p->shared || seen->shared;
	p->zero = p->zero || seen->zero;
	return 0;
}

const struct scribe_id_seen *scribe_id_table_find(const struct scribe_id_table *t, int module, uint64_t id)
{
	const struct scribe_id_seen *p = t->slots ? slot_of(t, (uint32_t)module, id) : NULL;

	return p && p->records ? p : NULL;
}

void scribe_id_table_clear(struct scribe_id_table *t)
{
	free(t->slot);
	*t = (struct scribe_id_table){0};
}
