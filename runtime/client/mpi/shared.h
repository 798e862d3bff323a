/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds records and names that other ranks have, too, in one of three ways (costs in docs/measurements.md):
 *
 * hash  An id's low bits name its home rank. Ids go there through a hypercube, log2(ranks) messages per rank,
 * merging on the way; counts and first rank come back the same way. Complete.
 * and   The rank with fewest ids broadcasts them, the ranks mark theirs, a bitwise AND remains (Darshan's way,
 * with rank 0's ids). Only what all have.
 * tree  Lists are intersected up a binomial tree; rank 0 broadcasts. Only what all have.
 */
#ifndef RUNTIME_CLIENT_MPI_SHARED_H
#define RUNTIME_CLIENT_MPI_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/client/mpi/coll.h"

enum scribe_shared_way { SCRIBE_SHARED_HASH, SCRIBE_SHARED_AND, SCRIBE_SHARED_TREE };

#define SCRIBE_SHARED_NAMES 0xffu     /* instead of a module */
#define SCRIBE_SHARED_RANKS (1 << 24) /* limit of this encoding */

/* Sorted by id, then module. */
struct scribe_shared_id {
	uint64_t id;
	uint32_t ranks;        /* having it; 1 if unknown */
	uint32_t first_module; /* first rank << 8 | module */
};

static inline unsigned scribe_shared_module(const struct scribe_shared_id *e)
{
	return e->first_module & 0xff;
}

static inline int scribe_shared_first(const struct scribe_shared_id *e)
{
	return (int)(e->first_module >> 8);
}

/* By id, then module. */
int scribe_shared_order(const struct scribe_shared_id *a, const struct scribe_shared_id *b);
/* Sorts and drops duplicates. Returns the new number. */
size_t scribe_shared_sort(struct scribe_shared_id *ids, size_t n);
/* NULL: none. */
const struct scribe_shared_id *scribe_shared_find(const struct scribe_shared_id *ids, size_t n, uint64_t id,
						  unsigned module);

/* Sets `ranks` and `first_module` of `n` sorted ids; `size` ranks. -1: c is broken. */
int scribe_shared_by_hash(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n);
/* `teller`: rank with the broadcast ids. */
int scribe_shared_by_and(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n, int teller);
int scribe_shared_by_tree(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n);

/* Exchanges lists of unknown length; -1: no rank. */
int scribe_shared_swap(struct scribe_coll *c, int to, const struct scribe_shared_id *out, size_t n, int from,
		       struct scribe_shared_id **ret_in, size_t *ret_n);

#endif
