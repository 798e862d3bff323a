// SPDX-License-Identifier: BSD-3-Clause
// One program for the ways an MPI job can go: mpi_cases CASE DIR. Every rank's
// regular I/O is write_file(name, n): open, n writes of 100 bytes, close.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>

#include "prog.h"

static int rank, size;
static const char *dir;
static char **args;

static void write_file(const char *name, int n)
{
	char path[512], block[100];
	int fd;

	memset(block, 'x', sizeof(block));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = prog_open(path, O_WRONLY | O_CREAT);
	for (int i = 0; i < n; i++)
		EXACT(pwrite(fd, block, sizeof(block), (long)i * 100), 100);
	MUST(close(fd));
}

static void write_own(int n)
{
	char name[64];

	snprintf(name, sizeof(name), "own.%d", rank);
	write_file(name, n);
}

static void start(void)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Only rank 0 does I/O. */
static void root_only(void)
{
	start();
	if (rank == 0)
		write_file("root", 7);
	MPI_Finalize();
}

static void odd_only(void)
{
	start();
	if (rank % 2)
		write_file("odd", 5);
	MPI_Finalize();
}

/* All but rank 2. */
static void idle_rank(void)
{
	start();
	if (rank != 2) {
		write_file("most", 3);
		write_own(2);
	}
	MPI_Finalize();
}

/* Nobody does anything. */
static void nothing(void)
{
	start();
	MPI_Finalize();
}

/* Rank 1 is killed; the launcher ends the others. */
static void killed(void)
{
	start();
	write_file("shared", 4);
	write_own(rank + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		raise(SIGKILL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

static void all_killed(void)
{
	start();
	write_file("shared", 4);
	write_own(rank + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	raise(SIGKILL);
}

static void aborted(void)
{
	start();
	write_file("shared", 4);
	write_own(rank + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 9);
	for (;;)
		pause();
}

/* Ends with MPI still running. */
static void no_finalize(void)
{
	start();
	write_file("shared", 4);
	write_own(rank + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	_exit(0);
}

/* Under mpiexec, but without MPI. The rank is known from the environment alone. */
static void no_init(void)
{
	const char *r = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");

	rank = r ? atoi(r) : 0;
	write_file("shared", 4);
	write_own(rank + 1);
}

/* The same files before MPI_Init, in between and after MPI_Finalize. */
static void around(void)
{
	write_file("around", 1);
	start();
	write_file("around", 2);
	write_own(1);
	MPI_Finalize();
	write_file("around", 4);
	write_own(10);
}

static void *thread_writes(void *arg)
{
	char path[512], block[64];
	long n = (long)arg;
	int fd;

	memset(block, 't', sizeof(block));
	snprintf(path, sizeof(path), "%s/threads", dir);
	fd = prog_open(path, O_WRONLY | O_CREAT);
	for (int i = 0; i < 500; i++)
		EXACT(pwrite(fd, block, sizeof(block), (n * 500 + i) * 64), 64);
	MUST(close(fd));
	return NULL;
}

/* 8 threads a rank on one file. */
static void threads(void)
{
	pthread_t t[8];
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread_writes, (void *)(rank * 8 + i));
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	MPI_Finalize();
}

/* Two ranks spawn two: a world of their own. */
static void spawned(void)
{
	MPI_Comm parent, children;
	char *child_args[] = {"spawn", (char *)(uintptr_t)dir, NULL};

	start();
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		write_file("parents", 2);
		MPI_Comm_spawn(args[0], child_args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
			       MPI_ERRCODES_IGNORE);
		MPI_Barrier(children);
		MPI_Comm_disconnect(&children);
	} else {
		write_file("children", 3);
		MPI_Barrier(parent);
		MPI_Comm_disconnect(&parent);
	}
	MPI_Finalize();
}

/* Rank 1 comes to MPI_Finalize three seconds late. */
static void late(void)
{
	start();
	write_file("shared", 4);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		sleep(3);
	MPI_Finalize();
}

/* Rank 1 stops itself before MPI_Finalize; whoever tests lets it go on. */
static void stopped(void)
{
	char path[512];
	FILE *f;

	start();
	write_file("shared", 4);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		snprintf(path, sizeof(path), "%s/pid", dir);
		f = fopen(path, "w");
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
		raise(SIGSTOP);
	}
	MPI_Finalize();
}

/* Communicators of the application's own: made after MPI_Init, some left to MPI_Finalize. */
static void comms(void)
{
	MPI_Comm copy, half;
	int sum, n;

	start();
	write_file("shared", 4);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(copy, rank % 2, rank, &half);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
	MPI_Comm_size(half, &n);
	printf("rank %d: %d of %d\n", rank, sum, n);
	MPI_Comm_free(&copy);
	MPI_Finalize();
}

/* What a program sees of the runtime: errno, the next descriptors, its handlers, output. */
static void unharmed(void)
{
	MPI_Errhandler handler;
	int before, after;

	before = MUST(open("/dev/null", O_RDONLY));
	close(before);
	errno = 0;
	start();
	after = MUST(open("/dev/null", O_RDONLY));
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
	printf("handler %s\n", handler == MPI_ERRORS_ARE_FATAL ? "fatal" : "changed");
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && fd > 800)
			printf("descriptor %d is open\n", fd);
	printf("rank %d of %d\n", rank, size);
	fflush(stdout);
	close(after);
	write_file("shared", 2);
	MPI_Finalize();
	exit(rank == 3 ? 5 : 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"root", root_only},  {"odd", odd_only},          {"idle", idle_rank},    {"nothing", nothing},
	{"killed", killed},   {"all-killed", all_killed}, {"aborted", aborted},   {"no-finalize", no_finalize},
	{"no-init", no_init}, {"around", around},         {"threads", threads},   {"spawn", spawned},
	{"late", late},       {"stopped", stopped},       {"unharmed", unharmed}, {"comms", comms},
};

int main(int argc, char **argv)
{
	args = argv;
	dir = argc > 2 ? argv[2] : ".";
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: mpi_cases CASE DIR\n");
	return 2;
}
