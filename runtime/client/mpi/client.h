/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the interposed names call: the runtime's begin, once MPI is initialised.
 * The end comes by itself, through an attribute of MPI_COMM_SELF.
 */
#ifndef RUNTIME_CLIENT_MPI_CLIENT_H
#define RUNTIME_CLIENT_MPI_CLIENT_H

/*
 * Around the next MPI_Init. Names call each other (Fortran's calls C's), so only
 * the outermost leave begins, and only after success (`ok`). Keeps errno.
 */
void scribe_client_enter(void);
void scribe_client_leave(int ok);

#endif
