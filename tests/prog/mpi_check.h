/* SPDX-License-Identifier: BSD-3-Clause */
/* CHECK(ok), MUST(call of MPI): or all ranks end. */
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

#define MUST(call) \
	do { \
		int rc_ = (call); \
		if (rc_ != MPI_SUCCESS) { \
			fprintf(stderr, "%s: failed (%d)\n", #call, rc_); \
			MPI_Abort(MPI_COMM_WORLD, 1); \
		} \
	} while (0)

#endif
