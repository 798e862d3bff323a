// SPDX-License-Identifier: BSD-3-Clause
/*
 * The edges of MPI-IO, each on a file of its own: mpiio_edges FOLDER. Two ranks.
 * Bytes in the comments are of one rank; the totals stand in
 * tests/uprobes/mpiio_edges.bats.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call) check((call) == MPI_SUCCESS, #call)
#define FAILS(call) check((call) != MPI_SUCCESS, "not " #call)

static char data[8192];
static const char *folder;
static int rank;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mpiio_edges: %s failed\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int open_on(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret_fh)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return MPI_File_open(comm, path, mode, info, ret_fh);
}

static MPI_File open_all(const char *name)
{
	MPI_File fh;

	CHECK(open_on(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
	return fh;
}

static void write_one(MPI_File fh, int n, MPI_Datatype type)
{
	MPI_Type_commit(&type);
	CHECK(MPI_File_write_at(fh, (MPI_Offset)rank * 4096, data, n, type, MPI_STATUS_IGNORE));
	MPI_Type_free(&type);
}

/* 14 writes, 4 of them of nothing; bytes: 160 32 24 28 26 24 20 18 80 0 0 0 0 16 = 428 */
static void types(void)
{
	int size[2] = {8, 6}, part[2] = {4, 2}, from[2] = {1, 3}, two[2] = {2, 4}, at[2] = {0, 6};
	int cut[1] = {MPI_DISTRIBUTE_BLOCK}, how[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {2}, whole[1] = {20};
	MPI_Aint away[2] = {0, 16}, bottom[2];
	MPI_Datatype of[2] = {MPI_CHAR, MPI_DOUBLE}, t, u;
	MPI_File fh = open_all("types");
	int one[2] = {3, 3};

	MPI_Type_vector(10, 2, 4, MPI_DOUBLE, &t);
	write_one(fh, 1, t); /* 160 */
	MPI_Type_create_subarray(2, size, part, from, MPI_ORDER_C, MPI_INT, &t);
	write_one(fh, 1, t); /* 4 x 2 x 4 = 32 */
	MPI_Type_indexed(2, two, at, MPI_INT, &t);
	write_one(fh, 1, t); /* 6 x 4 = 24 */
	/* three characters and three doubles, with a hole between them, then resized with one behind */
	MPI_Type_create_struct(2, one, away, of, &t);
	MPI_Type_create_resized(t, 0, 64, &u);
	MPI_Type_free(&t);
	MPI_Type_dup(u, &t);
	MPI_Type_free(&u);
	CHECK(MPI_File_write_at(fh, 0, data, 0, MPI_CHAR, MPI_STATUS_IGNORE)); /* 0 */
	MPI_Type_contiguous(1, t, &u);
	MPI_Type_free(&t);
	write_one(fh, 1, u); /* 27 */
	MPI_Type_create_hindexed(2, two, away, MPI_INT, &t);
	write_one(fh, 1, t); /* 24 */
	MPI_Type_create_indexed_block(2, 5, at, MPI_SHORT, &t);
	write_one(fh, 1, t); /* 20 */
	MPI_Type_create_hindexed_block(2, 3, away, MPI_UNSIGNED_SHORT, &t);
	write_one(fh, 1, t); /* 12 */
	MPI_Type_create_darray(2, rank, 1, whole, cut, how, grid, MPI_ORDER_C, MPI_DOUBLE, &t);
	write_one(fh, 1, t); /* half of 20 doubles: 80 */
	MPI_Type_contiguous(0, MPI_INT, &t);
	write_one(fh, 7, t); /* a type of no size: 0 */
	MPI_Type_vector(0, 2, 4, MPI_DOUBLE, &t);
	write_one(fh, 1, t); /* 0 */
	MPI_Type_vector(10, 2, 4, MPI_DOUBLE, &t);
	write_one(fh, 0, t); /* none of a type: 0 */
	/* addresses from the bottom of memory: 4 characters and 2 doubles */
	one[0] = 4;
	one[1] = 2;
	MPI_Get_address(data, &bottom[0]);
	MPI_Get_address(data + 64, &bottom[1]);
	MPI_Type_create_struct(2, one, bottom, of, &t);
	MPI_Type_commit(&t);
	CHECK(MPI_File_write_at(fh, 0, MPI_BOTTOM, 1, t, MPI_STATUS_IGNORE)); /* 20 */
	MPI_Type_free(&t);
	/* a pair, which is no simple type */
	MPI_Type_dup(MPI_DOUBLE_INT, &t);
	write_one(fh, 1, t); /* 12 */
	CHECK(MPI_File_close(&fh));
}

/* 3 views, 1 of them with hints; 2 writes, 1 collective write, 1 read: 96 + 32, 64; 96 */
static void views(void)
{
	MPI_File fh = open_all("views");
	MPI_Datatype every;
	MPI_Offset at;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "65536");
	/* of four integers the ranks have one each, behind a head of 100 bytes */
	MPI_Type_vector(8, 1, 4, MPI_INT, &every);
	MPI_Type_commit(&every);
	CHECK(MPI_File_set_view(fh, 100 + rank * 4, MPI_INT, every, "native", MPI_INFO_NULL));
	CHECK(MPI_File_write(fh, data, 24, MPI_INT, MPI_STATUS_IGNORE)); /* 96 */
	CHECK(MPI_File_get_position(fh, &at));
	check(at == 24, "position");
	CHECK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
	CHECK(MPI_File_read(fh, data, 24, MPI_INT, MPI_STATUS_IGNORE)); /* 96 */
	CHECK(MPI_File_set_view(fh, 4096, MPI_DOUBLE, MPI_DOUBLE, "native", info));
	CHECK(MPI_File_write_at_all(fh, rank * 8, data, 8, MPI_DOUBLE, MPI_STATUS_IGNORE)); /* 64 */
	CHECK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	CHECK(MPI_File_write_at(fh, 8192 + rank * 32, data, 4, MPI_DOUBLE, MPI_STATUS_IGNORE)); /* 32 */
	FAILS(MPI_File_set_view(fh, 0, MPI_DATATYPE_NULL, MPI_BYTE, "native", MPI_INFO_NULL));
	MPI_Type_free(&every);
	MPI_Info_free(&info);
	CHECK(MPI_File_close(&fh));
}

/* 8 writes of 100, 4 reads of 50: counted when they are posted, however they are waited for */
static void posted(void)
{
	MPI_File fh = open_all("posted");
	MPI_Offset at = (MPI_Offset)rank * 2048;
	MPI_Status status[4];
	MPI_Request r[4];
	int done = 0, which;

	for (int i = 0; i < 4; i++)
		CHECK(MPI_File_iwrite_at(fh, at + i * 100, data, 100, MPI_BYTE, &r[i]));
	CHECK(MPI_Waitall(4, r, status));
	CHECK(MPI_File_seek(fh, at, MPI_SEEK_SET));
	CHECK(MPI_File_iwrite(fh, data, 100, MPI_BYTE, &r[0]));
	while (!done)
		CHECK(MPI_Test(&r[0], &done, MPI_STATUS_IGNORE));
	CHECK(MPI_File_iwrite_shared(fh, data, 100, MPI_BYTE, &r[0]));
	CHECK(MPI_Waitany(1, r, &which, MPI_STATUS_IGNORE));
	CHECK(MPI_File_iwrite_all(fh, data, 100, MPI_BYTE, &r[0]));
	CHECK(MPI_File_iwrite_at_all(fh, at, data, 25, MPI_INT, &r[1]));
	CHECK(MPI_Waitall(2, r, status));
	/* what is read has been written by all */
	CHECK(MPI_File_sync(fh));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(MPI_File_iread_at(fh, at, data, 50, MPI_BYTE, &r[0]));
	CHECK(MPI_File_iread_at_all(fh, at, data + 50, 50, MPI_BYTE, &r[1]));
	CHECK(MPI_Waitall(2, r, status));
	CHECK(MPI_File_iread_shared(fh, data, 25, MPI_SHORT, &r[0]));
	CHECK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(MPI_File_seek(fh, at, MPI_SEEK_SET));
	CHECK(MPI_File_iread(fh, data, 50, MPI_BYTE, &r[0]));
	CHECK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(MPI_File_close(&fh));
}

/* 1 write by the shared pointer, 1 and 1 in order, 1 read by it; split: 1 and 1 in order; 40 each */
static void shared(void)
{
	MPI_File fh = open_all("shared");

	CHECK(MPI_File_write_shared(fh, data, 10, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(MPI_File_write_ordered(fh, data, 10, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(MPI_File_write_ordered_begin(fh, data, 10, MPI_INT));
	CHECK(MPI_File_write_ordered_end(fh, data, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
	CHECK(MPI_File_read_shared(fh, data, 10, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(MPI_File_read_ordered(fh, data, 10, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(MPI_File_read_ordered_begin(fh, data, 10, MPI_INT));
	CHECK(MPI_File_read_ordered_end(fh, data, MPI_STATUS_IGNORE));
	CHECK(MPI_File_close(&fh));
}

/* 1 write of 10, then reads: 1 behind the end and 1 short, counted as asked for, 100 each */
static void ends(void)
{
	MPI_File fh = open_all("ends");
	MPI_Status status;
	int n;

	if (rank == 0)
		CHECK(MPI_File_write_at(fh, 0, data, 10, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(MPI_File_read_at(fh, 5000, data, 100, MPI_BYTE, &status));
	MPI_Get_count(&status, MPI_BYTE, &n);
	check(n == 0, "nothing behind the end");
	CHECK(MPI_File_read_at(fh, 4, data, 100, MPI_BYTE, &status));
	MPI_Get_count(&status, MPI_BYTE, &n);
	check(n == 6, "a short read");
	CHECK(MPI_File_close(&fh));
}

/* Nothing of this counts, but the opens that succeed and 1 write of 8. */
static void mistakes(void)
{
	MPI_File fh, no = MPI_FILE_NULL;
	MPI_Request r;

	FAILS(open_on(MPI_COMM_SELF, "none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
	FAILS(open_on(MPI_COMM_SELF, "missing", MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
	FAILS(open_on(MPI_COMM_SELF, "modes", MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
	FAILS(MPI_File_write_at(no, 0, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	FAILS(MPI_File_read(no, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	FAILS(MPI_File_iwrite_at(no, 0, data, 8, MPI_BYTE, &r));
	FAILS(MPI_File_sync(no));
	if (rank)
		return;
	CHECK(open_on(MPI_COMM_SELF, "wrong", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
	CHECK(MPI_File_write_at(fh, 0, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	FAILS(MPI_File_read_at(fh, 0, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	FAILS(MPI_File_write_at(fh, 0, data, -1, MPI_BYTE, MPI_STATUS_IGNORE));
	FAILS(MPI_File_write_at(fh, 0, data, 8, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
#ifdef MPICH_VERSION
	FAILS(MPI_File_write_at(fh, -8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
#endif
	CHECK(MPI_File_close(&fh));
	CHECK(open_on(MPI_COMM_SELF, "wrong", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
	FAILS(MPI_File_write(fh, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(MPI_File_close(&fh));
	FAILS(open_on(MPI_COMM_SELF, "wrong", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
}

/* Hints at the open: 1; an open of one process on a communicator made of the world; files that go by
 * themselves */
static void others(void)
{
	char path[4200];
	MPI_Info info;
	MPI_Comm own;
	MPI_File fh;

	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_cb_write", "disable");
	CHECK(open_on(MPI_COMM_WORLD, "hints", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND, info, &fh));
	CHECK(MPI_File_set_info(fh, info));
	CHECK(MPI_File_set_size(fh, 100));
	CHECK(MPI_File_sync(fh));
	CHECK(MPI_File_sync(fh));
	CHECK(MPI_File_close(&fh));
	MPI_Info_free(&info);
	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
	CHECK(open_on(own, rank ? "own.1" : "own.0", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN,
		      MPI_INFO_NULL, &fh));
	CHECK(MPI_File_write_all(fh, data, 3, MPI_DOUBLE, MPI_STATUS_IGNORE)); /* 24, collective all the same */
	CHECK(MPI_File_close(&fh));
	CHECK(open_on(own, rank ? "gone.1" : "gone.0", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
		      MPI_INFO_NULL, &fh));
	CHECK(MPI_File_write(fh, data, 5, MPI_BYTE, MPI_STATUS_IGNORE)); /* 5 */
	CHECK(MPI_File_close(&fh));
	snprintf(path, sizeof(path), "%s/own.%d", folder, rank);
	CHECK(MPI_File_delete(path, MPI_INFO_NULL));
	MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	check(argc == 2, "usage");
	folder = argv[1];
	types();
	views();
	posted();
	shared();
	ends();
	mistakes();
	others();
	MPI_Finalize();
	return 0;
}
