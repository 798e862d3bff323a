/* SPDX-License-Identifier: BSD-3-Clause */
/* CHECK(ok): or all ranks end. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>

#define CHECK(ok) \
	do { \
		if (!(ok)) { \
			fprintf(stderr, "line %d failed\n", __LINE__); \
			MPI_Abort(MPI_COMM_WORLD, 1); \
		} \
	} while (0)

#endif
