// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpiio_speed N FILE [ROUNDS]: nanoseconds of processor time a MPI_File_write_at of 8 bytes, so
 * that other work on the machine does not count; a number for each round of N calls. Used by
 * tests/bench/lib_calls.py.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double spent_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc >= 3 ? atol(argv[1]) : 0, rounds = argc == 4 ? atol(argv[3]) : 1;
	double begin;
	MPI_File fh;

	MPI_Init(&argc, &argv);
	if (n <= 0 ||
	    MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) != MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (long r = 0; r < rounds; r++) {
		begin = spent_ns();
		for (long i = 0; i < n; i++)
			MPI_File_write_at(fh, i % 512 * 8, "12345678", 8, MPI_BYTE, MPI_STATUS_IGNORE);
		printf("%.2f\n", (spent_ns() - begin) / (double)n);
	}
	MPI_File_close(&fh);
	MPI_Finalize();
	return 0;
}
