// SPDX-License-Identifier: BSD-3-Clause
/*
 * Killed inside a call of MPI-IO that cannot return: mpiio_stuck WAY FILE.
 * lock: 10 writes of 8 bytes, then one that waits for a lock which another process
 * holds; that one kills when it sees it wait. One process, MPICH.
 * alone: 5 collective writes of 16 bytes of two ranks, then one that rank 1 does not
 * take part in. A call that returns ends with 3. Totals: tests/uprobes/mpiio_edges.bats.
 */
#include <err.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char data[64];
static volatile int inside;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mpiio_stuck: %s failed\n", what);
	exit(1);
}

/* Is the process in fcntl, that is: waiting for the lock? */
static int waits(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return text[0] != 'r' && atoi(text) == SYS_fcntl;
}

/* Locks the whole file when told to, says so, and kills its parent when that waits for it. */
static void holder(const char *path, int told, int say)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	pid_t parent = getppid();
	char c;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	check(read(told, &c, 1) == 1, "read");
	fd = open(path, O_RDWR);
	check(fd >= 0 && fcntl(fd, F_SETLK, &all) == 0 && write(say, "l", 1) == 1, "lock");
	for (int i = 0; i < 60000; i++) {
		if (waits(parent))
			kill(parent, SIGKILL);
		usleep(1000);
	}
	_exit(1);
}

static void lock(const char *path, int say, int told)
{
	MPI_File fh;
	char c;

	check(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS,
	      "open");
	for (int i = 0; i < 10; i++)
		check(MPI_File_write_at(fh, i * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write_at");
	check(MPI_File_set_atomicity(fh, 1) == MPI_SUCCESS, "atomicity");
	check(write(say, "g", 1) == 1 && read(told, &c, 1) == 1, "the holder");
	MPI_File_write_at(fh, 80, data, 32, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void *killer(void *unused)
{
	(void)unused;
	while (!inside)
		usleep(1000);
	usleep(100000);
	kill(getpid(), SIGKILL);
	return NULL;
}

static void alone(const char *path)
{
	pthread_t id;
	MPI_File fh;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS,
	      "open");
	for (int i = 0; i < 5; i++)
		check(MPI_File_write_at_all(fh, rank * 16, data, 2, MPI_DOUBLE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
		      "write_at_all");
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		sleep(60); /* ended by the launcher */
		exit(3);
	}
	check(pthread_create(&id, NULL, killer, NULL) == 0, "pthread_create");
	inside = 1;
	MPI_File_write_at_all(fh, 0, data, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int down[2], up[2], level;

	check(argc == 3 && pipe(down) == 0 && pipe(up) == 0, "usage");
	if (!strcmp(argv[1], "lock") && fork() == 0)
		holder(argv[2], down[0], up[1]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (!strcmp(argv[1], "lock"))
		lock(argv[2], down[1], up[0]);
	else
		alone(argv[2]);
	return 3;
}
