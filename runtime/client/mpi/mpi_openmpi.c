/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls for Open MPI's ABI family (pointers), from mpi_calls.inc.h. */
#include "runtime/client/mpi/mpi_abi.h"

/*
 * 4.1 crashes in MPI_Finalize on a half-made duplicate, after a rank that came late. On the world collectives
 * have separate tags, and no message of the program is under way.
 */
#define OWN_COMM 0
#define HANDLE   void *
#define MEMBER   p
#define VERBS    scribe_mpi_verbs_openmpi
#include "runtime/client/mpi/mpi_calls.inc.h"
