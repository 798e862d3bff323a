// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_stdio NAME: each rank writes 10 times 10 bytes to NAME.RANK by a stream
 * before MPI_Finalize and 5 times after it.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char name[256];
	int rank;
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "%s.%d", argc > 1 ? argv[1] : "s", rank);
	f = fopen(name, "w");
	if (!f)
		return 1;
	for (int i = 0; i < 10; i++)
		fputs("0123456789", f);
	MPI_Finalize();
	for (int i = 0; i < 5; i++)
		fputs("0123456789", f);
	return fclose(f) != 0;
}
