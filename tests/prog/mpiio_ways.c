// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI-IO calls that reach the library in other ways than by name, or in the middle
 * of which something happens: mpiio_ways WAY FILE LIBRARY. Expected:
 * tests/uprobes/mpiio_preloaded.bats. Prints "done" and, for "plain", the probes
 * found in the library's code before and after.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int (*write_fn)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);

static char data[4096];
static MPI_File fh;
static const char *library;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mpiio_ways: %s failed\n", what);
	exit(1);
}

static void write_by(write_fn fn, int n, int bytes)
{
	for (int i = 0; i < n; i++)
		check(fn(fh, (MPI_Offset)i * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
		      "write_at");
}

/* As foreign function interfaces call: the library's own address, whatever is preloaded. */
static write_fn by_address(const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	write_fn found = handle ? (write_fn)dlsym(handle, name) : NULL;

	check(found != NULL, "dlsym");
	return found;
}

/* Bytes of the library's code that are a breakpoint in memory and something else in the file. */
static long probes(void)
{
	unsigned long from, to, offset;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4200], name[4096], kind[8];
	long n = 0;

	check(maps != NULL, "maps");
	while (fgets(line, sizeof(line), maps)) {
		int fd;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &from, &to, kind, &offset, name) != 5 ||
		    kind[2] != 'x' || !strstr(name, library))
			continue;
		fd = open(name, O_RDONLY);
		for (unsigned long at = from; fd >= 0 && at < to; at += sizeof(data)) {
			ssize_t got = pread(fd, data, sizeof(data), (off_t)(offset + (at - from)));

			for (ssize_t i = 0; i < got; i++)
				n += ((unsigned char *)at)[i] == 0xcc && (unsigned char)data[i] != 0xcc;
		}
		close(fd);
	}
	fclose(maps);
	return n;
}

/* 1,000 calls, then until the probes of data calls are gone (10 s at most), then 500. */
static void plain(void)
{
	long before = probes(), after = before;
	time_t end = time(NULL) + 10;
	int more = 0;

	write_by(MPI_File_write_at, 1000, 8);
	for (; after > before / 2 && time(NULL) < end; more++) {
		usleep(1000);
		write_by(MPI_File_write_at, 1, 8);
		after = probes();
	}
	write_by(MPI_File_write_at, 500, 8);
	printf("writes %d probes %ld then %ld\n", 1500 + more, before, after);
}

static void forks(void)
{
	pid_t child;
	int status;

	write_by(MPI_File_write_at, 100, 8);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		write_by(MPI_File_write_at, 50, 8);
		_exit(7);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
	      "the child");
	write_by(MPI_File_write_at, 100, 8);
}

static void *thread(void *unused)
{
	(void)unused;
	write_by(MPI_File_write_at, 1000, 8);
	return NULL;
}

static void threads(void)
{
	pthread_t id[4];

	for (int i = 0; i < 4; i++)
		check(pthread_create(&id[i], NULL, thread, NULL) == 0, "pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	/* more sizes than a record of the kernel's holds in itself: 20 of 1 to 20 times 100 bytes */
	for (int i = 1; i <= 20; i++)
		write_by(MPI_File_write_at, i, 100 * i);
}

static void *killer(void *count)
{
	while (*(volatile long *)count < 2000)
		usleep(100);
	kill(getpid(), SIGKILL);
	return NULL;
}

/* Killed among calls; "killed N" is how many were done at least. */
static void killed(void)
{
	static long count;
	pthread_t id;

	check(pthread_create(&id, NULL, killer, &count) == 0, "pthread_create");
	for (;;) {
		write_by(MPI_File_write_at, 1, 8);
		count++;
	}
}

int main(int argc, char **argv)
{
	int level;

	check(argc == 4, "usage");
	library = argv[3];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	check(MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS,
	      "open");
	if (!strcmp(argv[1], "plain"))
		plain();
	else if (!strcmp(argv[1], "address"))
		write_by(by_address("MPI_File_write_at"), 300, 8);
	else if (!strcmp(argv[1], "profiling"))
		write_by(PMPI_File_write_at, 300, 8);
	else if (!strcmp(argv[1], "forks"))
		forks();
	else if (!strcmp(argv[1], "threads"))
		threads();
	else if (!strcmp(argv[1], "killed"))
		killed();
	else
		check(0, "the way");
	check(MPI_File_close(&fh) == MPI_SUCCESS, "close");
	/* closed handles are no success, and harm nothing: another file at the same address, perhaps */
	check(MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) == MPI_SUCCESS, "open");
	MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN);
	check(MPI_File_write_at(fh, 0, data, 8, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a refusal");
	check(MPI_File_close(&fh) == MPI_SUCCESS, "close");
	MPI_Finalize();
	puts("done");
	return 0;
}
