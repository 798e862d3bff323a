// SPDX-License-Identifier: BSD-3-Clause
/* mpiio_speed N FILE: nanoseconds a MPI_File_write_at of 8 bytes. Used by tests/bench/lib_calls.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[1]) : 0;
	double begin, spent;
	MPI_File fh;

	MPI_Init(&argc, &argv);
	if (n <= 0 || MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
				    &fh) != MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	begin = MPI_Wtime();
	for (long i = 0; i < n; i++)
		MPI_File_write_at(fh, i % 512 * 8, "12345678", 8, MPI_BYTE, MPI_STATUS_IGNORE);
	spent = MPI_Wtime() - begin;
	MPI_File_close(&fh);
	MPI_Finalize();
	printf("%.2f\n", spent * 1e9 / (double)n);
	return 0;
}
