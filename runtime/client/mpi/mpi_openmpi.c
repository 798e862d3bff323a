/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls with the handles of Open MPI's ABI family: pointers. The functions are in
 * mpi_calls.inc.h, compiled once for each family. Run on the program's thread that calls MPI_Init
 * or MPI_Finalize.
 */
#include "runtime/client/mpi/mpi_abi.h"

/*
 * 4.1 crashes in MPI_Finalize on a duplicate that is half made, because a rank did not come in time. On the world
 * collectives have tags of their own, and no message of the program is under way there.
 */
#define OWN_COMM 0
#define HANDLE   void *
#define MEMBER   p
#define VERBS    scribe_mpi_verbs_openmpi
#include "runtime/client/mpi/mpi_calls.inc.h"
