// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files that Darshan's triggers tell apart, in this directory: each rank writes small.RANK, large.RANK and odd.RANK by
 * MPI-IO, ten operations each, posix.RANK by system calls, and all write coll together, of which rank 0 does the system
 * calls. Expected: tests/mpi/triggers.bats.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 10, LARGE = 65536, SMALL = 100, APART = 4096 };

static char block[LARGE];
static int rank;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void own(const char *name, MPI_Offset first, MPI_Offset apart, int length)
{
	char path[64];
	MPI_File fh;

	snprintf(path, sizeof(path), "%s.%d", name, rank);
	must(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS,
	     path);
	for (int i = 0; i < TIMES; i++)
		must(MPI_File_write_at(fh, first + i * apart, block, length, MPI_BYTE, MPI_STATUS_IGNORE) ==
			     MPI_SUCCESS,
		     path);
	MPI_File_close(&fh);
}

static void together(void)
{
	MPI_Info info;
	MPI_File fh;

	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Info_set(info, "cb_nodes", "1");
	must(MPI_File_open(MPI_COMM_WORLD, "coll", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh) == MPI_SUCCESS, "coll");
	for (int i = 0; i < TIMES; i++)
		must(MPI_File_write_at_all(fh, i * (MPI_Offset)LARGE + rank * SMALL, block, SMALL, MPI_BYTE,
					   MPI_STATUS_IGNORE) == MPI_SUCCESS,
		     "coll");
	MPI_File_close(&fh);
	MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	char path[64];
	int fd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	own("small", 0, APART, SMALL);
	own("large", 0, LARGE, LARGE);
	own("odd", 1, LARGE, LARGE);
	snprintf(path, sizeof(path), "posix.%d", rank);
	fd = open(path, O_CREAT | O_RDWR, 0644);
	must(fd >= 0, path);
	for (int i = 0; i < TIMES; i++)
		must(pwrite(fd, block, SMALL, i * APART) == SMALL, path);
	close(fd);
	together();
	MPI_Finalize();
	return 0;
}
