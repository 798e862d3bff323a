/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by the interposed names. The end comes through an attribute of MPI_COMM_SELF. */
#ifndef RUNTIME_CLIENT_MPI_CLIENT_H
#define RUNTIME_CLIENT_MPI_CLIENT_H

/*
 * Around the next MPI_Init. Names call each other (Fortran's call C's): only the outermost leave starts the
 * runtime, after success (`ok`). Keeps errno.
 */
void scribe_client_enter(void);
void scribe_client_leave(int ok);

#endif
