/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lustre layouts from attribute lustre.lov to a record: plain (V1, V3) and composite, either byte order. A user
 * may have made the file system: every offset and count is checked. Must not know files or jobs.
 */
#include "runtime/core/lov.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAGIC_V1       0x0BD10BD0u
#define MAGIC_V3       0x0BD30BD0u
#define MAGIC_SPECIFIC 0x0BD50BD0u /* like V3 */
#define MAGIC_COMP     0x0BD60BD0u
#define MAGIC_FOREIGN  0x0BD70BD0u

/* Bytes of Lustre's on-disk structs (lov_mds_md, lov_comp_md). */
#define V1_BYTES      32u
#define V3_BYTES      48u
#define POOL_BYTES    15u /* without the NUL */
#define OBJECT_BYTES  24u
#define OBJECT_OST    20u /* offset of the OST */
#define FOREIGN_BYTES 16u
#define COMP_BYTES    32u
#define ENTRY_BYTES   48u

#define ENTRY_INIT   0x10u
#define MIRROR_SHIFT 16
#define MIRROR_MASK  0x7fffu

#define PATTERN_RAID0        0x001u
#define PATTERN_MDT          0x100u
#define PATTERN_OVERSTRIPING 0x200u

/* Numbers in logs: those of Lustre's library, which Darshan uses. */
enum { LOGGED_RAID0 = 0, LOGGED_MDT = 2, LOGGED_OVERSTRIPED = 4, LOGGED_FOREIGN = 8 };

#define STRIPES_MAX 65536 /* per layout, far above Lustre's own */

struct view {
	const uint8_t *at;
	size_t bytes;
	bool swapped; /* big endian; normally little */
};

static uint64_t number(const struct view *v, size_t at, size_t width)
{
	uint64_t n = 0;

	for (size_t i = 0; i < width; i++)
		n |= (uint64_t)v->at[at + i] << 8 * (v->swapped ? width - 1 - i : i);
	return n;
}

/* An entry of a composite layout, or a plain one. */
struct piece {
	struct scribe_lustre_comp comp;
	struct view objects; /* empty if released to an archive */
};

static bool within(const struct view *v, uint64_t at, uint64_t bytes)
{
	/* Written so that no sum can overflow. */
	return at <= v->bytes && bytes <= v->bytes - at;
}

/* False: not understood. */
static bool take_striping(struct view v, struct piece *p)
{
	int64_t *c = p->comp.counters;
	uint32_t magic = v.bytes >= FOREIGN_BYTES ? (uint32_t)number(&v, 0, 4) : 0, pattern;
	size_t head = magic == MAGIC_V1 ? V1_BYTES : V3_BYTES;

	if (magic == MAGIC_FOREIGN) {
		c[SCRIBE_LUSTRE_COMP_STRIPE_PATTERN] = LOGGED_FOREIGN;
		return true;
	}
	if ((magic != MAGIC_V1 && magic != MAGIC_V3 && magic != MAGIC_SPECIFIC) || v.bytes < head)
		return false;
	pattern = (uint32_t)number(&v, 4, 4);
	c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] = (int64_t)number(&v, 24, 4);
	/* A file in MDT (DoM) has data but no OST. */
	c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = pattern == PATTERN_MDT ? 0 : (int64_t)number(&v, 28, 2);
	c[SCRIBE_LUSTRE_COMP_STRIPE_PATTERN] = pattern == PATTERN_RAID0                            ? LOGGED_RAID0
					       : pattern == PATTERN_MDT                            ? LOGGED_MDT
					       : pattern == (PATTERN_RAID0 | PATTERN_OVERSTRIPING) ? LOGGED_OVERSTRIPED
												   : (int64_t)pattern;
	if (head == V3_BYTES)
		memcpy(p->comp.pool_name, v.at + V1_BYTES, strnlen((const char *)v.at + V1_BYTES, POOL_BYTES));
	p->objects = (struct view){v.at + head, v.bytes - head, v.swapped};
	return true;
}

/* False: not understood, or not in use. */
static bool take_piece(const struct view *v, bool composite, size_t i, struct piece *p)
{
	int64_t *c = p->comp.counters;
	size_t at = COMP_BYTES + i * ENTRY_BYTES;
	uint64_t from, bytes, flags;

	memset(p, 0, sizeof(*p));
	if (!composite) {
		c[SCRIBE_LUSTRE_COMP_EXT_END] = -1;
		return take_striping(*v, p);
	}
	if (!within(v, at, ENTRY_BYTES))
		return false;
	flags = number(v, at + 4, 4);
	from = number(v, at + 24, 4);
	bytes = number(v, at + 28, 4);
	/* Only initialised components have objects. */
	if (!(flags & ENTRY_INIT) || !within(v, from, bytes))
		return false;
	c[SCRIBE_LUSTRE_COMP_FLAGS] = (int64_t)flags;
	c[SCRIBE_LUSTRE_COMP_EXT_START] = (int64_t)number(v, at + 8, 8);
	c[SCRIBE_LUSTRE_COMP_EXT_END] = (int64_t)number(v, at + 16, 8); /* ~0, the end of the file, is -1 */
	c[SCRIBE_LUSTRE_COMP_MIRROR_ID] = (int64_t)(number(v, at, 4) >> MIRROR_SHIFT & MIRROR_MASK);
	return take_striping((struct view){v->at + from, (size_t)bytes, v->swapped}, p);
}

/* -1: not in the attribute. */
static int64_t ost_of(const struct piece *p, int64_t stripe)
{
	size_t at = (size_t)stripe * OBJECT_BYTES;

	return within(&p->objects, at, OBJECT_BYTES) ? (int64_t)number(&p->objects, at + OBJECT_OST, 4) : -1;
}

/* Number of components; 0: unknown form. */
static size_t open_view(struct view *v, bool *ret_composite)
{
	for (int swapped = 0; swapped < 2 && v->bytes >= 4; swapped++) {
		uint64_t magic;

		v->swapped = swapped;
		magic = number(v, 0, 4);
		*ret_composite = magic == MAGIC_COMP;
		if (magic == MAGIC_COMP)
			return v->bytes >= COMP_BYTES ? (size_t)number(v, 14, 2) : 0;
		if (magic == MAGIC_V1 || magic == MAGIC_V3 || magic == MAGIC_SPECIFIC || magic == MAGIC_FOREIGN)
			return 1;
	}
	return 0;
}

size_t scribe_lov_record(const void *lov, size_t bytes, struct scribe_lustre_record *into)
{
	struct view v = {.at = lov, .bytes = bytes};
	int64_t comps = 0, stripes = 0, *osts;
	struct piece p;
	bool composite;
	size_t n = open_view(&v, &composite);

	for (size_t i = 0; i < n; i++) {
		if (!take_piece(&v, composite, i, &p))
			continue;
		comps++;
		stripes += p.comp.counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
		/* Counts come from the file system: limit the record. */
		if (stripes > STRIPES_MAX)
			return 0;
	}
	if (!comps)
		return 0;
	bytes = sizeof(*into) + (size_t)comps * sizeof(into->comps[0]) + (size_t)stripes * sizeof(*osts);
	if (!into)
		return bytes;
	into->num_comps = comps;
	into->num_stripes = stripes;
	osts = (int64_t *)(void *)&into->comps[comps];
	comps = 0;
	for (size_t i = 0; i < n; i++) {
		if (!take_piece(&v, composite, i, &p))
			continue;
		into->comps[comps++] = p.comp;
		for (int64_t k = 0; k < p.comp.counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT]; k++)
			*osts++ = ost_of(&p, k);
	}
	return bytes;
}
