// SPDX-License-Identifier: BSD-3-Clause
/*
 * Uses libshelf (library.c), with known totals: a process, or rank, puts 4,096 bytes on
 * "both" three times, gets 1,000 of them twice, puts 10 on "own" or, with MPI, on "ownRANK", and
 * asks in vain for "none". With the argument "fork" a child puts 4,096 bytes more on "both".
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SHELF_MPI
#include <mpi.h>
#endif

int shelf_put(const char *path, const void *data, size_t bytes);
long shelf_get(const char *path, void *data, size_t bytes);

static int child_puts(const char *data)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(shelf_put("both", data, 4096) ? 1 : 0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	char data[4096] = {0}, own[32] = "own";
	int failed = 0;

#ifdef SHELF_MPI
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(own, sizeof(own), "own%d", rank);
#endif
	for (int i = 0; i < 3; i++)
		failed |= shelf_put("both", data, sizeof(data));
	for (int i = 0; i < 2; i++)
		failed |= shelf_get("both", data, 1000) != 1000;
	failed |= shelf_put(own, data, 10);
	failed |= shelf_get("none", data, 10) != -1;
	if (argc > 1 && !strcmp(argv[1], "fork"))
		failed |= child_puts(data);
#ifdef SHELF_MPI
	MPI_Finalize();
#endif
	return failed;
}
