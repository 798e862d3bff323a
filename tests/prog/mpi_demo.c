// SPDX-License-Identifier: BSD-3-Clause
// The program of scripts/quickstart: each rank writes its part of a shared file
// and reads its neighbour's, and writes and reads a file of its own.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024, BLOCKS = 16, RECORD = 1000, RECORDS = 100 };

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
	static char block[BLOCK];
	char name[32];
	int rank, size, fd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(block, 'a' + rank % 26, sizeof(block));

	fd = open("shared", O_RDWR | O_CREAT, 0644);
	must(fd >= 0, "open shared");
	for (int i = 0; i < BLOCKS; i++) {
		off_t at = (off_t)(i * size + rank) * BLOCK;

		must(pwrite(fd, block, BLOCK, at) == BLOCK, "write shared");
	}
	must(fsync(fd) == 0, "fsync shared");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < BLOCKS; i++) {
		off_t at = (off_t)(i * size + (rank + 1) % size) * BLOCK;

		must(pread(fd, block, BLOCK, at) == BLOCK, "read shared");
	}
	close(fd);

	snprintf(name, sizeof(name), "rank.%d", rank);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0, "open own file");
	for (int i = 0; i < RECORDS; i++)
		must(write(fd, block, RECORD) == RECORD, "write own file");
	must(lseek(fd, 0, SEEK_SET) == 0, "seek own file");
	for (int i = 0; i < RECORDS; i++)
		must(read(fd, block, RECORD) == RECORD, "read own file");
	close(fd);
	if (rank == 0)
		printf("%d ranks: %d MiB shared, %d KB each\n", size, size * BLOCKS * BLOCK >> 20,
		       RECORD * RECORDS / 1000);
	MPI_Finalize();
	return 0;
}
