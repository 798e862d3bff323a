// SPDX-License-Identifier: BSD-3-Clause
// How long MPI_Init and MPI_Finalize take, in milliseconds, on rank 0: the
// program of tests/bench/mpi_cost.py. FILES files a rank are written first.
#include <mpi.h>
#include <time.h>

#include "prog.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	int files = argc > 2 ? atoi(argv[2]) : 0, rank;
	double begin = now_ms(), ready, end;
	char path[512];

	MPI_Init(&argc, &argv);
	ready = now_ms();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < files; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%d", argv[1], i);
		fd = prog_open(path, O_WRONLY | O_CREAT);
		EXACT(pwrite(fd, path, 100, rank * 100), 100);
		close(fd);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	end = now_ms();
	MPI_Finalize();
	if (rank == 0)
		printf("%.3f %.3f\n", ready - begin, now_ms() - end);
	return 0;
}
