/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a rank: at MPI_Finalize, one log by all ranks together, or none. */
#ifndef RUNTIME_CLIENT_MPI_FINALIZE_H
#define RUNTIME_CLIENT_MPI_FINALIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/client/process/daemon_link.h"
#include "runtime/client/mpi/mpi_abi.h"

/* What MPI_Init has left for MPI_Finalize. */
struct scribe_rank_state {
	struct scribe_mpi mpi;
	struct scribe_identity who;
};

/*
 * Write the log with the other ranks and tell the daemon. Ends by the deadline
 * whatever the others or the daemon do.
 */
void scribe_finalize(struct scribe_rank_state *s);

#endif
