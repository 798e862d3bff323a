/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that cannot hang: nonblocking, polled to a deadline. After it, or an error, the set is broken:
 * later calls return at once, and memory that MPI may still write to is never freed.
 */
#ifndef RUNTIME_CLIENT_MPI_COLL_H
#define RUNTIME_CLIENT_MPI_COLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/client/mpi/mpi_abi.h"

struct scribe_block;

struct scribe_coll {
	struct scribe_mpi *mpi;
	int64_t deadline; /* as scribe_msg_now_ms */
	bool broken;
	struct scribe_block *blocks;
};

/* Zeroed, aligned for any type, freed by scribe_coll_free unless broken. NULL: no memory. bytes may be 0. */
void *scribe_coll_alloc(struct scribe_coll *c, size_t bytes);
/* `n` elements. NULL breaks `c`: the other ranks then wait for their deadline. */
void *scribe_coll_array(struct scribe_coll *c, size_t n, size_t bytes);
/* Frees one piece early, unless MPI may still write to it; NULL allowed. */
void scribe_coll_release(struct scribe_coll *c, void *piece);
void scribe_coll_free(struct scribe_coll *c);

/* All return 0, or -1 once broken. Buffers must come from scribe_coll_alloc. */
/* First call: duplicates the world. */
int scribe_coll_begin(struct scribe_coll *c);
int scribe_coll_bcast(struct scribe_coll *c, void *buf, size_t bytes, int root);
/* One message to rank `to` and one from rank `from`, concurrently; -1: none. `capacity`: bytes of `in`. */
int scribe_coll_exchange(struct scribe_coll *c, int to, const void *out, size_t bytes, int from, void *in,
			 size_t capacity);
int scribe_coll_max(struct scribe_coll *c, int64_t *inout, size_t n);
int scribe_coll_band(struct scribe_coll *c, void *inout, size_t bytes);
int scribe_coll_reduce(struct scribe_coll *c, const void *in, void *out, size_t bytes, scribe_mpi_combine combine);
/* `before`: sum over lower ranks, `total`: over all. */
int scribe_coll_offsets(struct scribe_coll *c, const int64_t *mine, int64_t *before, int64_t *total, size_t n);

#endif
