/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interposed names of libioscribe.a, Fortran (mpif.h and module mpi): taken
 * from the archive only by programs that call them. A file of its own, since C
 * programs have no pmpi_init_ to link with.
 */
#include "runtime/client/mpi/client.h"

void pmpi_init_(int *ierr);
void pmpi_init_thread_(int *required, int *provided, int *ierr);
__attribute__((visibility("default"))) void mpi_init_(int *ierr);
__attribute__((visibility("default"))) void mpi_init_thread_(int *required, int *provided, int *ierr);

void mpi_init_(int *ierr)
{
	scribe_client_enter();
	pmpi_init_(ierr);
	scribe_client_leave(*ierr == 0);
}

void mpi_init_thread_(int *required, int *provided, int *ierr)
{
	scribe_client_enter();
	pmpi_init_thread_(required, provided, ierr);
	scribe_client_leave(*ierr == 0);
}
