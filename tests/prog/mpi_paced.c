// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes, by system calls and MPI-IO, at an easy pace until a file "enough" is there; each
// rank tells afterwards, in stamps.RANK, what it did and when: file, operation, offset, length, and the
// times (CLOCK_MONOTONIC, ns) before and after. Files are open before and made meanwhile.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 200000, LONGEST = 5000, ROOM = 8192, LATE_EACH = 20, LOOK_EACH = 50 };

static struct stamp {
	char file[24];
	int write;
	long offset, length, before, after;
} stamps[MOST];
static int done;
static char block[LONGEST];

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000l + ts.tv_nsec;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void move(int fd, const char *file, int write, long offset, long length)
{
	struct stamp *s = &stamps[done++];

	snprintf(s->file, sizeof(s->file), "%s", file);
	s->write = write;
	s->offset = offset;
	s->length = length;
	s->before = now();
	if (write)
		must(pwrite(fd, block, (size_t)length, offset) == length, file);
	else
		must(pread(fd, block, (size_t)length, offset) == length, file);
	s->after = now();
}

/* The same by MPI-IO, by a call whose offset the probes see, too. */
static void move_by_mpi(MPI_File fh, long offset, long length)
{
	struct stamp *s = &stamps[done++];
	MPI_Request request;

	snprintf(s->file, sizeof(s->file), "mpi");
	s->write = 1;
	s->offset = offset;
	s->length = length;
	s->before = now();
	must(MPI_File_iwrite_at(fh, offset, block, (int)length, MPI_BYTE, &request) == MPI_SUCCESS, "mpi");
	must(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "mpi");
	s->after = now();
}

static void late(int rank, int i)
{
	char name[24];
	int fd;

	snprintf(name, sizeof(name), "late.%d.%d", rank, i);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0, name);
	for (int k = 0; k < 3; k++)
		move(fd, name, 1, k * 100, 100 + k);
	close(fd);
	unlink(name);
}

static void tell(int rank)
{
	char name[24];
	FILE *to;

	snprintf(name, sizeof(name), "stamps.%d", rank);
	to = fopen(name, "w");
	must(to != NULL, name);
	for (int i = 0; i < done; i++)
		fprintf(to, "%s %s %ld %ld %ld %ld\n", stamps[i].file, stamps[i].write ? "write" : "read",
			stamps[i].offset, stamps[i].length, stamps[i].before, stamps[i].after);
	must(fclose(to) == 0, name);
}

int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	char own[24], running[24];
	int rank, fd, shared;
	MPI_File fh;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(own, sizeof(own), "own.%d", rank);
	snprintf(running, sizeof(running), "running.%d", rank);
	fd = open(own, O_RDWR | O_CREAT | O_TRUNC, 0644);
	shared = open("shared", O_RDWR | O_CREAT, 0644);
	must(fd >= 0 && shared >= 0, own);
	must(MPI_File_open(MPI_COMM_WORLD, "mpi", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS,
	     "mpi");
	for (int i = 0; done < MOST - 8; i++) {
		const long length = 1 + (i * 37l + rank) % LONGEST;

		move(fd, own, 1, i * (long)ROOM, length);
		move(shared, "shared", 1, (i * 8l + rank) * ROOM, length);
		move(fd, own, 0, i * (long)ROOM, length);
		move_by_mpi(fh, (i * 8l + rank) * ROOM, length);
		if (i % LATE_EACH == 0)
			late(rank, i);
		if (i == LOOK_EACH)
			close(open(running, O_CREAT | O_WRONLY, 0644));
		if (i % LOOK_EACH == 0 && access("enough", F_OK) == 0)
			break;
		nanosleep(&nap, NULL);
	}
	close(fd);
	close(shared);
	must(MPI_File_close(&fh) == MPI_SUCCESS, "mpi");
	tell(rank);
	MPI_Finalize();
	return 0;
}
