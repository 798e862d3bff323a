/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_MPI_FINALIZE_H
#define RUNTIME_CLIENT_MPI_FINALIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/client/mpi/mpi_abi.h"
#include "runtime/client/process/daemon_link.h"

/* Kept from MPI_Init. */
struct scribe_rank_state {
	struct scribe_mpi mpi;
	struct scribe_identity who;
};

/* Writes the log with the other ranks and reports to the daemon. Ends by the deadline in any case. */
void scribe_finalize(struct scribe_rank_state *s);

#endif
