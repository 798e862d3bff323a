// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI-IO files that are closed and opened again, twice open, named in other ways, used by
 * threads and a child: mpiio_reopen FOLDER, any number of ranks. Expected: tests/uprobes/reopen.bats.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_check.h"

static char data[64];

static MPI_File opened(MPI_Comm comm, const char *name)
{
	MPI_File fh;

	CHECK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
	return fh;
}

/* Each letter a call of eight bytes: w, r, W and R collective, i and j not waited for at once. */
static void calls(MPI_File fh, const char *how)
{
	MPI_Status st;
	MPI_Request rq;

	for (; *how; how++) {
		switch (*how) {
		case 'w':
			CHECK(MPI_File_write_at(fh, 0, data, 8, MPI_BYTE, &st) == MPI_SUCCESS);
			break;
		case 'r':
			CHECK(MPI_File_read_at(fh, 0, data, 8, MPI_BYTE, &st) == MPI_SUCCESS);
			break;
		case 'W':
			CHECK(MPI_File_write_at_all(fh, 0, data, 8, MPI_BYTE, &st) == MPI_SUCCESS);
			break;
		case 'R':
			CHECK(MPI_File_read_at_all(fh, 0, data, 8, MPI_BYTE, &st) == MPI_SUCCESS);
			break;
		case 'i':
			CHECK(MPI_File_iwrite_at(fh, 0, data, 8, MPI_BYTE, &rq) == MPI_SUCCESS);
			CHECK(MPI_Wait(&rq, &st) == MPI_SUCCESS);
			break;
		case 'j':
			CHECK(MPI_File_iread_at(fh, 0, data, 8, MPI_BYTE, &rq) == MPI_SUCCESS);
			CHECK(MPI_Wait(&rq, &st) == MPI_SUCCESS);
			break;
		}
	}
}

static void once(MPI_Comm comm, const char *name, const char *how)
{
	MPI_File fh = opened(comm, name);

	calls(fh, how);
	CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

/* 5,000 files, each opened for writing and then for reading: 1 switch each */
static void many(void)
{
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4000; i++) {
			snprintf(name, sizeof(name), "many/%d", i);
			once(MPI_COMM_SELF, name, round ? "r" : "w");
		}
	}
}

int main(int argc, char **argv)
{
	int rank, level;
	MPI_File a, b;
	pid_t pid;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK((argc == 2 || argc == 3) && chdir(argv[1]) == 0);
	/* opened six times, each time the other way: 5 switches */
	for (int i = 0; i < 6; i++)
		once(MPI_COMM_WORLD, "reopened", i & 1 ? "R" : "W");
	/* as many in between: 1 + 2 + 3 */
	once(MPI_COMM_WORLD, "mixed", "ww");
	once(MPI_COMM_WORLD, "mixed", "rrw");
	once(MPI_COMM_WORLD, "mixed", "");
	once(MPI_COMM_WORLD, "mixed", "rij");
	/* two handles: w r w r w r, 5 switches; each alone has none */
	a = opened(MPI_COMM_WORLD, "twice");
	b = opened(MPI_COMM_WORLD, "twice");
	for (int i = 0; i < 3; i++) {
		calls(a, "w");
		calls(b, "r");
	}
	CHECK(MPI_File_close(&a) == MPI_SUCCESS && MPI_File_close(&b) == MPI_SUCCESS);
	/* two files in turn, whose handles stand at the same address, perhaps: none */
	for (int i = 0; i < 4; i++)
		once(MPI_COMM_WORLD, i & 1 ? "odd" : "even", i & 1 ? "r" : "w");
	/* a child uses a file of its own */
	pid = rank == 0 ? fork() : 1;
	if (pid == 0)
		_exit(execl("/bin/true", "true", NULL));
	if (rank == 0)
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	once(MPI_COMM_WORLD, "reopened", "w"); /* the sixth */
	if (argc == 3)
		many();
	MPI_Finalize();
	return 0;
}
