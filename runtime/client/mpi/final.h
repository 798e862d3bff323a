/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the steps of the collective finalize. Every rank takes every step, even after a failure: it
 * contributes nothing and reports it at the next agreement, so that no rank waits in vain.
 */
#ifndef RUNTIME_CLIENT_MPI_FINAL_H
#define RUNTIME_CLIENT_MPI_FINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/client/mpi/coll.h"
#include "runtime/client/mpi/log_image.h"
#include "runtime/client/mpi/shared.h"

struct scribe_id_place {
	uint64_t id;
	size_t at; /* record */
};

/* After the ranks agreed on the active modules. */
struct scribe_final_module {
	bool active;                         /* on any rank */
	bool shares;                         /* all ranks have records, and they can be reduced */
	struct scribe_log_image_module mine; /* n is 0 without records */
	struct scribe_id_place *places;      /* by id */
	unsigned char *shared;               /* per place: on every rank; NULL: none */
	size_t nshared;
	char *reduced; /* rank 0: shared records */
	size_t nreduced;
};

struct scribe_final {
	struct scribe_coll coll;
	int rank, size;
	bool failed;     /* on this rank */
	bool failed_any; /* on any rank, agreed */
	struct scribe_log_image image;
	uint64_t partial;             /* modules with lost operations, of this rank, then of all */
	int64_t start_ns, end_ns;     /* agreed */
	enum scribe_shared_way way;   /* agreed */
	int teller;                   /* rank with the smallest image */
	struct scribe_shared_id *ids; /* of shareable records, and of names */
	size_t nids;
	char *path; /* of the partial log */
	int fd;     /* -1: not open */
	struct scribe_final_module module[SCRIBE_MAX_MODULES];
};

/* Modules, job times, path. */
void scribe_final_agree(struct scribe_final *f);
/* Sets `ids` and each module's `shared`. */
void scribe_final_search(struct scribe_final *f);
/* To rank 0. */
void scribe_final_reduce(struct scribe_final *f);
/* Compresses this rank's parts and writes them (write_log.c). */
void scribe_final_write(struct scribe_final *f);
/* True: no rank has failed. */
bool scribe_final_vote(struct scribe_final *f);

#endif
