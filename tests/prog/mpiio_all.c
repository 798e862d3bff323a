// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every function of MPI-IO that moves data, once: mpiio_all FILE. Where the
 * library has forms with large counts (MPICH 4), each of these once too. A call
 * moves 4 integers; datatypes are plain, dup'ed, a vector, a struct, a resized
 * one. Prints the number of forms, 1 or 2. Expected: tests/uprobes/mpiio_all.bats.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "mpi_check.h"

static int data[64];
static MPI_File fh;
static MPI_Request request;

/* Each writes or reads `n` of `type` at the place of its pointer, or at `at`. */
#define AT_POINTER(fn) MUST(fn(fh, data, n, type, MPI_STATUS_IGNORE))
#define AT_OFFSET(fn)  MUST(fn(fh, at, data, n, type, MPI_STATUS_IGNORE))
#define POSTED(fn) \
	do { \
		MUST(fn(fh, data, n, type, &request)); \
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
	} while (0)
#define POSTED_AT(fn) \
	do { \
		MUST(fn(fh, at, data, n, type, &request)); \
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
	} while (0)
#define SPLIT(fn, s) \
	do { \
		MUST(fn##_begin##s(fh, data, n, type)); \
		MUST(fn##_end(fh, data, MPI_STATUS_IGNORE)); \
	} while (0)
#define SPLIT_AT(fn, s) \
	do { \
		MUST(fn##_begin##s(fh, at, data, n, type)); \
		MUST(fn##_end(fh, data, MPI_STATUS_IGNORE)); \
	} while (0)

#define BOTH_WAYS(X, ...) X(write, __VA_ARGS__) X(read, __VA_ARGS__)
#define ALL_OF(way, s) \
	AT_POINTER(MPI_File_##way##s); \
	AT_OFFSET(MPI_File_##way##_at##s); \
	AT_POINTER(MPI_File_##way##_shared##s); \
	AT_POINTER(MPI_File_##way##_all##s); \
	AT_OFFSET(MPI_File_##way##_at_all##s); \
	AT_POINTER(MPI_File_##way##_ordered##s); \
	SPLIT(MPI_File_##way##_all, s); \
	SPLIT_AT(MPI_File_##way##_at_all, s); \
	SPLIT(MPI_File_##way##_ordered, s); \
	POSTED(MPI_File_i##way##s); \
	POSTED_AT(MPI_File_i##way##_at##s); \
	POSTED(MPI_File_i##way##_shared##s); \
	POSTED(MPI_File_i##way##_all##s); \
	POSTED_AT(MPI_File_i##way##_at_all##s);

static void rewind_all(void)
{
	MUST(MPI_File_seek(fh, 0, MPI_SEEK_SET));
	MUST(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
}

static void plain(MPI_Datatype type, int n, MPI_Offset at)
{
	BOTH_WAYS(ALL_OF, )
}

#ifdef MPICH_VERSION
static void large(MPI_Datatype type, MPI_Count n, MPI_Offset at)
{
	BOTH_WAYS(ALL_OF, _c)
}
#endif

/* 16 bytes each */
static void types(void)
{
	int lengths[2] = {1, 3};
	MPI_Aint away[2] = {0, 16};
	MPI_Datatype of[2] = {MPI_INT, MPI_INT}, type[4];

	MPI_Type_dup(MPI_DOUBLE, &type[0]); /* twice */
	MPI_Type_vector(2, 2, 4, MPI_INT, &type[1]);
	MPI_Type_create_struct(2, lengths, away, of, &type[2]);
	MPI_Type_create_resized(type[1], 0, 64, &type[3]);
	for (int i = 0; i < 4; i++) {
		MPI_Type_commit(&type[i]);
		MUST(MPI_File_write_at(fh, 1024, data, i == 0 ? 2 : 1, type[i], MPI_STATUS_IGNORE));
		MUST(MPI_File_read_at(fh, 1024, data, 0, type[i], MPI_STATUS_IGNORE));
		MPI_Type_free(&type[i]);
	}
}

/* None of these is counted. */
static void mistakes(void)
{
	if (MPI_File_write_at(fh, 0, data, -1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS ||
	    MPI_File_read_at(fh, 0, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE) == MPI_SUCCESS ||
	    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL) == MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
	int forms = 1;

	MPI_Init(&argc, &argv);
	MUST(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
	/* what there is to read */
	MUST(MPI_File_set_size(fh, 65536));
	MUST(MPI_File_preallocate(fh, 65536));
	rewind_all();
	plain(MPI_INT, 4, 512);
#ifdef MPICH_VERSION
	rewind_all();
	large(MPI_INT, 4, 512);
	forms = 2;
#endif
	types();
	mistakes();
	MUST(MPI_File_set_atomicity(fh, 0));
	MUST(MPI_File_close(&fh));
	printf("forms %d\n", forms);
	MPI_Finalize();
	return 0;
}
