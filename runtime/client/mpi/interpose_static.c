/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interposed names of libioscribe.a, C: taken from the archive when the
 * program calls them, before the MPI library is searched.
 */
#include "runtime/client/mpi/client.h"

int PMPI_Init(int *argc, char ***argv);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
__attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv);
__attribute__((visibility("default"))) int MPI_Init_thread(int *argc, char ***argv, int required,
							   int *provided);

int MPI_Init(int *argc, char ***argv)
{
	int rc;

	scribe_client_enter();
	rc = PMPI_Init(argc, argv);
	scribe_client_leave(rc == 0);
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int rc;

	scribe_client_enter();
	rc = PMPI_Init_thread(argc, argv, required, provided);
	scribe_client_leave(rc == 0);
	return rc;
}
