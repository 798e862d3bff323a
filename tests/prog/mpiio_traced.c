// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations of MPI-IO that the program knows byte by byte: mpiio_traced FILE [kill | scribble | many N DAEMON |
 * wait N]. `many` stops that process while it writes; `wait` writes N times and waits in the middle for FILE.go.
 * Each rank writes FILE.RANK.log, a line an operation: write|read offset length how, and with `how` who could know
 * the offset: `at` (an argument, no view), `posted` (the same, nonblocking), `element` (an argument, a view of one
 * builtin type), `pointer`, `gaps` (a view with gaps, or a derived type); -1: nobody.
 * Expected: tests/uprobes/mpiio_dxt.bats.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

#define ANY MPI_STATUS_IGNORE

static char data[65536];
static MPI_File fh;
static MPI_Request request;
static FILE *list;
static int rank, ranks;

static void did(const char *what, long long offset, long long length, const char *how)
{
	fprintf(list, "%s %lld %lld %s\n", what, offset, length, how);
}

/* Ranks have places of 100,000 bytes. */
static void plain(void)
{
	const MPI_Offset own = (MPI_Offset)rank * 100000;

	MUST(MPI_File_write_at(fh, own, data, 10, MPI_INT, ANY));
	did("write", own, 40, "at");
	MUST(MPI_File_write_at_all(fh, own + 40, data, 3000, MPI_DOUBLE, ANY));
	did("write", own + 40, 24000, "at");
	MUST(MPI_File_seek(fh, own + 30000, MPI_SEEK_SET));
	MUST(MPI_File_write(fh, data, 7, MPI_CHAR, ANY));
	did("write", own + 30000, 7, "pointer");
	MUST(MPI_File_write(fh, data, 100, MPI_CHAR, ANY));
	did("write", own + 30007, 100, "pointer");
	MUST(MPI_File_seek(fh, -50, MPI_SEEK_CUR));
	MUST(MPI_File_write_all(fh, data, 1, MPI_DOUBLE, ANY));
	did("write", own + 30057, 8, "pointer");
	MUST(MPI_File_iwrite_at(fh, own + 50000, data, 5, MPI_INT, &request));
	did("write", own + 50000, 20, "posted");
	MUST(MPI_Wait(&request, ANY));
	MUST(MPI_File_write_at_all_begin(fh, own + 60000, data, 2, MPI_INT));
	MUST(MPI_File_write_at_all_end(fh, data, ANY));
	did("write", own + 60000, 8, "at");
	MUST(MPI_File_sync(fh));
	MPI_Barrier(MPI_COMM_WORLD);
	MUST(MPI_File_read_at(fh, own + 8, data, 3, MPI_INT, ANY));
	did("read", own + 8, 12, "at");
	MUST(MPI_File_seek(fh, own, MPI_SEEK_SET));
	MUST(MPI_File_read_all(fh, data, 40, MPI_CHAR, ANY));
	did("read", own, 40, "pointer");
	MUST(MPI_File_iread(fh, data, 4, MPI_INT, &request));
	did("read", own + 40, 16, "pointer");
	MUST(MPI_Wait(&request, ANY));
	MUST(MPI_File_read_at(fh, own, data, 0, MPI_INT, ANY));
	did("read", own, 0, "at");
	MUST(MPI_File_read(fh, data, 0, MPI_INT, ANY));
	did("read", own + 56, 0, "pointer");
}

static void views(void)
{
	MPI_Datatype stripes, own, empty;

	MUST(MPI_File_set_view(fh, 1000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	MUST(MPI_File_write_at(fh, 500 + 10 * rank, data, 10, MPI_INT, ANY));
	did("write", 1000 + 4 * (500 + 10 * rank), 40, "element");
	MUST(MPI_File_seek(fh, 20 * rank, MPI_SEEK_SET));
	MUST(MPI_File_read(fh, data, 2, MPI_INT, ANY));
	did("read", 1000 + 80 * rank, 8, "pointer");
	/* each rank sees its own of every ranks * 16 bytes, from byte 96 on */
	MPI_Type_vector(1, 4, 4, MPI_INT, &stripes);
	MPI_Type_create_resized(stripes, 0, 16 * ranks, &own);
	MPI_Type_commit(&own);
	MUST(MPI_File_set_view(fh, 96 + 16 * rank, MPI_INT, own, "native", MPI_INFO_NULL));
	MUST(MPI_File_write_at(fh, 9, data, 3, MPI_INT, ANY));
	did("write", 96 + 16 * rank + 2 * 16 * ranks + 4, 12, "gaps");
	MUST(MPI_File_seek(fh, 4, MPI_SEEK_SET));
	MUST(MPI_File_write(fh, data, 16, MPI_INT, ANY));
	did("write", 96 + 16 * rank + 16 * ranks, 64, "gaps");
	MUST(MPI_File_read_all(fh, data, 4, MPI_INT, ANY));
	did("read", 96 + 16 * rank + 5 * 16 * ranks, 16, "gaps");
	MPI_Type_free(&own);
	MPI_Type_free(&stripes);
	/* a view of nothing: MPI must not be asked about it */
	MPI_Type_contiguous(0, MPI_INT, &stripes);
	MPI_Type_create_resized(stripes, 0, 64, &empty);
	MPI_Type_commit(&empty);
	if (MPI_File_set_view(fh, 0, MPI_INT, empty, "native", MPI_INFO_NULL) == MPI_SUCCESS) {
		MUST(MPI_File_write(fh, data, 0, MPI_INT, ANY));
		did("write", -1, 0, "gaps");
		if (MPI_File_write(fh, data, 5, stripes, ANY) == MPI_SUCCESS)
			did("write", -1, 0, "gaps");
	}
	MPI_Type_free(&empty);
	MPI_Type_free(&stripes);
	MUST(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	MUST(MPI_File_write_at(fh, 5000 + rank, data, 1, MPI_BYTE, ANY));
	did("write", 5000 + rank, 1, "element");
	MUST(MPI_File_write_shared(fh, data, 3, MPI_BYTE, ANY));
	did("write", -1, 3, "pointer");
}

static void many(long n, pid_t daemon)
{
	MUST(MPI_File_write_at(fh, 0, data, 1, MPI_BYTE, ANY));
	did("write", 0, 1, "at");
	kill(daemon, SIGSTOP);
	for (long i = 0; i < n; i++) {
		MUST(MPI_File_write_at(fh, 8 * (i % 1000), data, 8, MPI_BYTE, ANY));
		did("write", 8 * (i % 1000), 8, "at");
	}
	kill(daemon, SIGCONT);
}

static void wait_for_go(const char *file, long n)
{
	char name[4096];

	for (long i = 0; i < n; i++) {
		MUST(MPI_File_write_at(fh, 8 * (i % 1000), data, 8, MPI_BYTE, ANY));
		did("write", 8 * (i % 1000), 8, "at");
	}
	snprintf(name, sizeof(name), "%s.ready", file);
	fclose(fopen(name, "w"));
	snprintf(name, sizeof(name), "%s.go", file);
	while (access(name, F_OK))
		usleep(10000);
}

/* What a program must not do, and may: nonsense into all memory that it shares with the daemon. */
static void scribble(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/memfd:ioscribe-streams") || sscanf(line, "%lx-%lx", &begin, &end) != 2)
			continue;
		/* the last 12 MiB are rings, before them the words of each */
		for (uint64_t *p = (uint64_t *)(end - (13ul << 20)); (unsigned long)p < end; p += 37)
			*p = 0xfffffffffffffff0ull + (uintptr_t)p % 48; /* huge, negative, small */
	}
	if (maps)
		fclose(maps);
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	char name[4096];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	snprintf(name, sizeof(name), "%s.%d.log", argv[1], rank);
	list = fopen(name, "w");
	if (!list)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MUST(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
	if (!strcmp(way, "many")) {
		many(atol(argv[3]), (pid_t)atol(argv[4]));
	} else {
		plain();
		if (!strcmp(way, "scribble"))
			scribble();
		if (!strcmp(way, "wait"))
			wait_for_go(argv[1], atol(argv[3]));
		views();
	}
	fclose(list);
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	MUST(MPI_File_close(&fh));
	MPI_Finalize();
	return 0;
}
