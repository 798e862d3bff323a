// SPDX-License-Identifier: BSD-3-Clause
// Another preloaded tool, of the usual kind: stands in front of MPI_Init and
// MPI_Finalize, counts what it sees of collectives, and says so at the end.
#include <mpi.h>
#include <stdio.h>

static int inits, collectives;

int MPI_Init(int *argc, char ***argv)
{
	inits++;
	return PMPI_Init(argc, argv);
}

int MPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *req)
{
	collectives++;
	return PMPI_Iallreduce(in, out, n, type, op, comm, req);
}

int MPI_Finalize(void)
{
	int rc, rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rc = PMPI_Finalize();
	if (rank == 0)
		printf("tool: %d MPI_Init, %d collectives\n", inits, collectives);
	return rc;
}
