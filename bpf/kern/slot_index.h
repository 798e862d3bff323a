/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Index from (process, name) to slot: open addressing, changed by programs and daemon without locks, one cache
 * line per look-up. It may lose or duplicate an entry: the file then has two records, which the drain merges by
 * name.
 */
#ifndef BPF_KERN_SLOT_INDEX_H
#define BPF_KERN_SLOT_INDEX_H

#include "logfmt/rules/types.h"

#define SCRIBE_INDEX_PROBES 48            /* cells per look-up */
#define SCRIBE_INDEX_HOME   16            /* of them near the inode's cell */
#define SCRIBE_INDEX_GONE   0xffffffffull /* used before: continue */

struct scribe_file_key {
	scribe_u32 proc_id;
	scribe_u32 dev;
	scribe_u64 ino;
	scribe_u64 hash;
};

#define SCRIBE_INDEX_BY_STRING 1ull /* bits: set in the hash of a path never opened */
#define SCRIBE_INDEX_NEAR      4    /* 16 neighbouring inodes share two cache lines of cells */

SCRIBE_INLINE scribe_u64 scribe_index_mix(scribe_u64 h)
{
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 32;
}

/*
 * Lower half: position, upper half: tag. Files created in a row have consecutive inode numbers and become
 * neighbours; paths of one directory share its number and are spread.
 */
SCRIBE_INLINE scribe_u64 scribe_index_hash(const struct scribe_file_key *key)
{
	scribe_u64 who = ((scribe_u64)key->proc_id << 32 | key->dev) * 0xc2b2ae3d27d4eb4full;
	scribe_u64 tag = scribe_index_mix(key->hash ^ key->ino * 0x9e3779b97f4a7c15ull ^ who);
	scribe_u64 at;

	if (key->hash & SCRIBE_INDEX_BY_STRING)
		return tag;
	at = scribe_index_mix((key->ino >> SCRIBE_INDEX_NEAR) * 0x9e3779b97f4a7c15ull ^ who);
	at = at << SCRIBE_INDEX_NEAR | (key->ino & ((1u << SCRIBE_INDEX_NEAR) - 1));
	return (tag & ~0xffffffffull) | (at & 0xffffffffull);
}

/*
 * Not masked. Files that reuse an inode number share their home cells; the rest follows the tag, in pairs,
 * because neighbours fill long runs.
 */
SCRIBE_INLINE scribe_u32 scribe_index_at(scribe_u64 hash, scribe_u32 i)
{
	if (i < SCRIBE_INDEX_HOME)
		return (scribe_u32)hash + i;
	return ((scribe_u32)(hash >> 32) + (i >> 1) * 0x85ebca6bu) * 0x9e3779b1u + (i & 1);
}

/* Never 0 for a slot above 0. */
SCRIBE_INLINE scribe_u64 scribe_index_cell(scribe_u64 hash, scribe_u32 slot)
{
	return (hash & ~0xffffffffull) | slot;
}

#endif
