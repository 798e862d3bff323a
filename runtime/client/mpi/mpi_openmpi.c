/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls with the handles of Open MPI's ABI family: pointers. */
#include "runtime/client/mpi/mpi_abi.h"

#define HANDLE void *
#define MEMBER p
#define VERBS  scribe_mpi_verbs_openmpi
#include "runtime/client/mpi/mpi_calls.inc.h"
