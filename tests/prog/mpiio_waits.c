// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpiio_waits FILE GO: waits for GO to exist, then starts MPI, writes 5 times 8
 * bytes at places of FILE and reads 3 times 16. Expected: tests/uprobes/found.bats.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char buffer[64] = "";
	MPI_File fh;
	int rc;

	if (argc != 3)
		return 2;
	for (int i = 0; access(argv[2], F_OK) != 0; i++) {
		if (i == 1200)
			return 3;
		usleep(50000);
	}
	MPI_Init(&argc, &argv);
	rc = MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
	if (rc != MPI_SUCCESS)
		return 4;
	for (int i = 0; i < 5; i++)
		MPI_File_write_at(fh, i * 8, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE);
	for (int i = 0; i < 3; i++)
		MPI_File_read_at(fh, i, buffer, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
	MPI_File_close(&fh);
	MPI_Finalize();
	return 0;
}
