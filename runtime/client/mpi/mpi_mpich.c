/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls with the handles of MPICH's ABI family: int. The functions are in mpi_calls.inc.h,
 * compiled once for each family. Run on the program's thread that calls MPI_Init or MPI_Finalize.
 */
#include "runtime/client/mpi/mpi_abi.h"

#define OWN_COMM 1
#define HANDLE   int
#define MEMBER   i
#define VERBS    scribe_mpi_verbs_mpich
#include "runtime/client/mpi/mpi_calls.inc.h"
