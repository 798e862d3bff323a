// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpiio_rounds FOLDER STOP: rounds of calls until STOP exists; prints how many. In each:
 *   10 fputc to FOLDER/kept; fopen, 3 fputc, fclose of FOLDER/again;
 *   10 MPI_File_write_at of 8 bytes to FOLDER/kept.mpi; open, 3 of 16, close of FOLDER/again.mpi.
 * A child that does nothing has all memory of its parent, too. Expected: tests/service/survive.bats.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mpi_check.h"

static void writes(MPI_File fh, int n, int bytes)
{
	static const char text[16] = "";

	for (int i = 0; i < n; i++)
		CHECK(MPI_File_write_at(fh, (MPI_Offset)i * bytes, text, bytes, MPI_BYTE, MPI_STATUS_IGNORE) ==
		      MPI_SUCCESS);
}

static MPI_File opened(const char *name)
{
	MPI_File fh;

	CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
	return fh;
}

static void puts_to(FILE *f, int n)
{
	CHECK(f);
	for (int i = 0; i < n; i++)
		CHECK(fputc('x', f) == 'x');
}

int main(int argc, char **argv)
{
	long rounds = 0;
	MPI_File kept_fh, fh;
	FILE *kept, *f;

	MPI_Init(&argc, &argv);
	CHECK(argc == 3 && chdir(argv[1]) == 0);
	kept = fopen("kept", "w");
	puts_to(kept, 0);
	kept_fh = opened("kept.mpi");
	do {
		puts_to(kept, 10);
		f = fopen("again", "w");
		puts_to(f, 3);
		CHECK(fclose(f) == 0);
		writes(kept_fh, 10, 8);
		fh = opened("again.mpi");
		writes(fh, 3, 16);
		MPI_File_close(&fh);
		if (rounds++ == 0 && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(600);
			pause();
			_exit(0);
		}
		usleep(1000);
	} while (access(argv[2], F_OK) != 0);
	fclose(kept);
	MPI_File_close(&kept_fh);
	MPI_Finalize();
	printf("%ld\n", rounds);
	return 0;
}
