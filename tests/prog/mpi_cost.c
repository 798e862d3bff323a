// SPDX-License-Identifier: BSD-3-Clause
// The program of tests/bench/finalize.py: FILES files are written, by all ranks each (shared) or by one (own,
// FILES a rank, removed at once). Rank 0 prints the ms that MPI_Init and MPI_Finalize took, and its largest
// memory in KiB.
#include <mpi.h>
#include <sys/resource.h>
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
	int files = argc > 2 ? atoi(argv[2]) : 0, own = argc > 3 && strcmp(argv[3], "own") == 0, rank;
	double begin = now_ms(), ready, end;
	struct rusage used;
	char path[512];

	MPI_Init(&argc, &argv);
	ready = now_ms();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < files; i++) {
		int fd;

		if (own)
			snprintf(path, sizeof(path), "%s/%d.%d", argv[1], rank, i);
		else
			snprintf(path, sizeof(path), "%s/%d", argv[1], i);
		fd = prog_open(path, O_WRONLY | O_CREAT);
		EXACT(pwrite(fd, path, 100, own ? 0 : rank * 100), 100);
		close(fd);
		if (own)
			unlink(path);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	end = now_ms();
	MPI_Finalize();
	MUST(getrusage(RUSAGE_SELF, &used));
	if (rank == 0)
		printf("%.3f %.3f %ld\n", ready - begin, now_ms() - end, used.ru_maxrss);
	return 0;
}
