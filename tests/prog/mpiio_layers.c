// SPDX-License-Identifier: BSD-3-Clause
/*
 * Data at three levels, known for each: mpiio_layers FILE. Ranks write 1,000
 * bytes each by MPI-IO one at a time (10 calls of 100), then 24 bytes by a plain
 * write of rank 0 beside MPI-IO, and read 500 bytes back in one call.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

static char data[1000];

int main(int argc, char **argv)
{
	MPI_File fh;
	int rank, fd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK(!MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
	for (int i = 0; i < 10; i++)
		CHECK(!MPI_File_write_at(fh, rank * 1000 + i * 100, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(!MPI_File_read_at(fh, rank * 1000, data, 500, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(!MPI_File_close(&fh));
	if (rank == 0) {
		fd = open(argv[1] + (strncmp(argv[1], "ufs:", 4) ? 0 : 4), O_WRONLY);
		CHECK(fd >= 0 && pwrite(fd, data, 24, 5000) == 24 && close(fd) == 0);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
