/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls for MPICH's ABI family (int handles), from mpi_calls.inc.h. */
#include "runtime/client/mpi/mpi_abi.h"

#define OWN_COMM 1
#define HANDLE   int
#define MEMBER   i
#define VERBS    scribe_mpi_verbs_mpich
#include "runtime/client/mpi/mpi_calls.inc.h"
