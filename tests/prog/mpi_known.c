// SPDX-License-Identifier: BSD-3-Clause
// Ranks with known totals: files shared by all, by some, and of one rank each;
// strided, sequential and consecutive accesses, sizes at the edges of every
// bucket that fits, switches, unaligned buffers and offsets. Prints what the log
// must say (mpi_expect.h).
#include "mpi_expect.h"

enum { BLOCK = 4096, BLOCKS = 16, ROOM = (4 << 20) + 16 };

static char *room; /* 8-byte aligned */
static int rank, size;

/* All ranks: interleaved blocks, then the whole file in small pieces. */
static void strided(struct ex_file *f, const char *dir)
{
	ex_open(f, dir, "strided", O_RDWR | O_CREAT, 0640);
	for (int i = 0; i < BLOCKS; i++)
		ex_pwrite(f, room, BLOCK, (long long)(i * size + rank) * BLOCK);
	for (int i = 0; i <= rank; i++) /* odd buffers and offsets, more of them on higher ranks */
		ex_pwrite(f, room + 1 + rank, 33, (long long)(i * size + rank) * BLOCK + 7);
	ex_sync(f, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	ex_seek(f, 0);
	for (int i = 0; i < 20 + rank; i++)
		ex_read(f, room, 1000);
	MUST(close(f->fd));
}

/* All ranks: sizes on both sides of the buckets' edges, written and read in turn. */
static void edges(struct ex_file *f, const char *dir)
{
	static const int bytes[] = {
		1,     99,     100,    101,           1023,    1024,          1025,    10239,        10240,
		10241, 102400, 102401, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 4 << 20, (4 << 20) + 1};
	long long at = (long long)rank << 26;

	ex_open(f, dir, "edges", O_RDWR | O_CREAT, 0600);
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		ex_pwrite(f, room, (size_t)bytes[i], at);
		if (i % 3 == 0)
			ex_pread(f, room + i % 2, (size_t)bytes[i], at);
		at += bytes[i] + (i % 4 == 0 ? 512 : 0);
	}
	ex_pread(f, room, 4096, (long long)1 << 40); /* past the end: a read of 0 bytes */
	MUST(close(f->fd));
}

/* One file a rank: everything sequential, opened twice. */
static void own(struct ex_file *f, const char *dir, char *name)
{
	sprintf(name, "own.%d", rank);
	ex_open(f, dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	for (int i = 0; i < 10 + rank; i++)
		ex_write(f, room, 777);
	ex_sync(f, 1);
	ex_dup(f);
	MUST(close(f->fd));
	ex_open(f, dir, name, O_RDONLY, 0);
	ex_stat(f);
	for (int i = 0; i < 10 + rank; i++) {
		ex_read(f, room, 500);
		if (i % 2)
			ex_seek(f, i * 700);
	}
	MUST(close(f->fd));
}

/* All ranks open it: the first writes, those between read, the last does neither. */
static void header(struct ex_file *f, const char *dir)
{
	ex_open(f, dir, "header", O_RDWR | O_CREAT, 0644);
	if (rank == 0)
		ex_pwrite(f, room, 512, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; rank > 0 && rank < size - 1 && i < 3; i++)
		ex_pread(f, room, 100, i * 100);
	ex_stat(f);
	MUST(close(f->fd));
}

/* Some ranks only: these records are not shared. */
static int some(struct ex_file *f, const char *dir)
{
	if (rank != 0 && rank != size - 1)
		return 0;
	ex_open(f, dir, "some", O_RDWR | O_CREAT, 0644);
	for (int i = 0; i < 5; i++)
		ex_pwrite(f, room, 2048, (long long)(rank * 100 + i * 2) * 2048);
	MUST(close(f->fd));
	return 1;
}

int main(int argc, char **argv)
{
	static struct ex_file f[5];
	char own_name[32];
	const char *dir = argc > 1 ? argv[1] : ".";
	int provided, used;

	if (argc > 2)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	room = aligned_alloc(64, ROOM);
	memset(room, 'a' + rank, ROOM);
	strided(&f[0], dir);
	edges(&f[1], dir);
	own(&f[2], dir, own_name);
	used = some(&f[3], dir);
	header(&f[4], dir);
	ex_report(&f[0], 1, 1);
	ex_report(&f[1], 1, 1);
	ex_report(&f[4], 1, 1);
	ex_report(&f[2], 1, size == 1); /* the only rank is all ranks */
	ex_report(&f[3], used, size == 1);
	fflush(stdout);
	free(room);
	MPI_Finalize();
	return 0;
}
