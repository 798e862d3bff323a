/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the steps of the collective finalize share. Each step is taken by every
 * rank, also by one that has failed: it then takes part with nothing, says so at
 * the next agreement, and nobody waits in vain.
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
	size_t at; /* index of the record */
};

/* A module, once the ranks have agreed on what is active anywhere. */
struct scribe_final_module {
	bool active;                         /* on any rank */
	bool shares;                         /* all ranks have records of it and it can be reduced */
	struct scribe_log_image_module mine; /* n 0 when this rank has none */
	struct scribe_id_place *places;      /* mine, by id */
	unsigned char *shared;               /* by place: every rank has it; NULL: none */
	size_t nshared;
	char *reduced; /* rank 0: the shared records */
	size_t nreduced;
};

struct scribe_final {
	struct scribe_coll coll;
	int rank, size;
	bool failed;     /* here */
	bool failed_any; /* agreed */
	struct scribe_log_image image;
	uint64_t partial;             /* modules that lost operations: this rank's, then all ranks' */
	int64_t start_ns, end_ns;     /* agreed */
	enum scribe_shared_way way;   /* agreed */
	int teller;                   /* the rank with the smallest image */
	struct scribe_shared_id *ids; /* of this rank's records of modules that share, and of its names */
	size_t nids;
	char *path; /* of the partial log, once known */
	int fd;     /* -1: not open */
	struct scribe_final_module module[SCRIBE_MAX_MODULES];
};

/* What is active where, job times, path. */
void scribe_final_agree(struct scribe_final *f);
/* Find what ranks share: fills in `ids` and each module's `shared`. */
void scribe_final_search(struct scribe_final *f);
/* Reduce the shared records to rank 0. */
void scribe_final_reduce(struct scribe_final *f);
/* Compress this rank's parts and write them, or have another rank do so; rank 0 the job record and the header
 * too. */
void scribe_final_write(struct scribe_final *f);
/* true: no rank has failed so far. */
bool scribe_final_vote(struct scribe_final *f);

#endif
