/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records and names other ranks have, too. Three ways to find out, which
 * differ in what they cost (docs/scale.md) and in what they tell:
 *
 *   hash  each id has a home rank, which its low bits name. Ids travel there
 *         through a hypercube, log2(ranks) messages a rank; equal ones become one on the
 *         way. The home knows how many ranks have the id and which is the first; the
 *         answers go back the same way. Tells everything.
 *   and   the rank with the fewest ids broadcasts them, every rank marks its own, and a
 *         bitwise AND leaves those that all have (Darshan's way, with rank 0's ids).
 *   tree  lists are intersected up a binomial tree, and rank 0 broadcasts the result.
 *
 * The last two tell only what all ranks have. All ranks go the same way.
 */
#ifndef RUNTIME_CLIENT_MPI_SHARED_H
#define RUNTIME_CLIENT_MPI_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/client/mpi/coll.h"

enum scribe_shared_way { SCRIBE_SHARED_HASH, SCRIBE_SHARED_AND, SCRIBE_SHARED_TREE };

#define SCRIBE_SHARED_NAMES 0xffu     /* in place of a module: the name of that id */
#define SCRIBE_SHARED_RANKS (1 << 24) /* most ranks that entries can name */

/* An id that this rank has; sorted by id, then module. */
struct scribe_shared_id {
	uint64_t id;
	uint32_t ranks;        /* how many have it: 1 also where it is not known */
	uint32_t first_module; /* the first rank that has it, << 8; module */
};

static inline unsigned scribe_shared_module(const struct scribe_shared_id *e)
{
	return e->first_module & 0xff;
}

static inline int scribe_shared_first(const struct scribe_shared_id *e)
{
	return (int)(e->first_module >> 8);
}

/* <0, 0, >0 by id, then module. */
int scribe_shared_order(const struct scribe_shared_id *a, const struct scribe_shared_id *b);
/* Sort, and leave out what stands there twice: for that nobody can say which is meant. Returns how many are
 * left. */
size_t scribe_shared_sort(struct scribe_shared_id *ids, size_t n);
/* NULL: not there. */
const struct scribe_shared_id *scribe_shared_find(const struct scribe_shared_id *ids, size_t n, uint64_t id,
						  unsigned module);

/* Fill in `ranks` and `first` of `n` sorted ids of this rank, of `size` in all. 0, or -1 once c is broken. */
int scribe_shared_by_hash(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n);
/* `teller`: the rank whose ids are told to all. */
int scribe_shared_by_and(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n,
			 int teller);
int scribe_shared_by_tree(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n);

/* Send a list to one rank and take one from another, of lengths that the other does not know; -1: none. */
int scribe_shared_swap(struct scribe_coll *c, int to, const struct scribe_shared_id *out, size_t n, int from,
		       struct scribe_shared_id **ret_in, size_t *ret_n);

#endif
