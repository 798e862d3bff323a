// SPDX-License-Identifier: BSD-3-Clause
// An MPI program over several nodes: each rank writes 100 times 1000 bytes to
// half.RANK and 1000 bytes of its own to `shared`, then ends as it is told:
//   nodes finalize            after MPI_Finalize 700 bytes more, to after.RANK
//   nodes killed FIRST        ranks from FIRST on are killed when all have come so far
//   nodes waits [kept]        waits for the file `go`, writes its 100,000 bytes again; then as
//                             finalize, or (kept) without MPI_Finalize
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void must(long rc, const char *what)
{
	if (rc >= 0)
		return;
	perror(what);
	_exit(99);
}

static void nap(void)
{
	const struct timespec t = {0, 10000000};

	nanosleep(&t, NULL);
}

static void add(const char *name, int of, size_t bytes, int times, off_t at)
{
	static const char zeros[1000];
	char file[64];
	int fd;

	snprintf(file, sizeof(file), of < 0 ? "%s" : "%s.%d", name, of);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	must(fd, file);
	for (int i = 0; i < times; i++, at += (off_t)bytes)
		must(pwrite(fd, zeros, bytes, at), file);
	must(close(fd), file);
}

/* All ranks have come to here; by files, as MPI may be gone. */
static void meet(const char *where)
{
	char file[64];

	add(where, rank, 1, 1, 0);
	for (int r = 0; r < size; r++) {
		snprintf(file, sizeof(file), "%s.%d", where, r);
		while (access(file, F_OK) < 0)
			nap();
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	add("half", rank, 1000, 100, 0);
	add("shared", -1, 1000, 1, rank * 1000);
	meet("come");
	if (!strcmp(how, "killed") && rank >= atoi(more))
		raise(SIGKILL);
	while (!strcmp(how, "killed"))
		nap(); /* the launcher ends it */
	if (!strcmp(how, "waits")) {
		while (access("go", F_OK) < 0)
			nap();
		add("half", rank, 1000, 100, 0);
		if (!strcmp(more, "kept")) {
			meet("done");
			_exit(0);
		}
	}
	MPI_Finalize();
	add("after", rank, 700, 1, 0);
	return 0;
}
