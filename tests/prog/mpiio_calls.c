// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every kind of MPI-IO call, with totals that are known: mpiio_calls FILE, in
 * the working directory (Open MPI takes no relative name without a folder).
 * Every rank of MPI_COMM_WORLD does the same; FILE.self.RANK is opened by one.
 * The expected counters stand in tests/uprobes/mpiio.bats.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

static double buffer[4096];

static void shared_file(const char *name, int rank)
{
	MPI_Offset at = (MPI_Offset)rank * 65536;
	MPI_Datatype vector, pair;
	MPI_Request request;
	MPI_Status status;
	MPI_Info info;
	MPI_File fh;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "1048576");
	MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
	/* independent: 3 writes, 3 reads */
	MUST(MPI_File_write_at(fh, at, buffer, 1000, MPI_BYTE, &status));                 /* 1000 */
	MUST(MPI_File_write_at(fh, at + 1000, buffer, 8, MPI_DOUBLE, MPI_STATUS_IGNORE)); /* 64 */
	MUST(MPI_File_seek(fh, at + 2000, MPI_SEEK_SET));
	MUST(MPI_File_write(fh, buffer, 100, MPI_INT, &status));         /* 400 */
	MUST(MPI_File_read_at(fh, at, buffer, 1000, MPI_BYTE, &status)); /* 1000 */
	MUST(MPI_File_seek(fh, at, MPI_SEEK_SET));
	MUST(MPI_File_read(fh, buffer, 10, MPI_INT, &status));        /* 40 */
	MUST(MPI_File_read_at(fh, at, buffer, 0, MPI_BYTE, &status)); /* 0 */
	/* derived types: 10 blocks of 2 doubles = 160 bytes, twice = 320 */
	MPI_Type_vector(10, 2, 4, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	MUST(MPI_File_write_at(fh, at + 4096, buffer, 2, vector, &status)); /* 320 */
	MPI_Type_dup(MPI_DOUBLE_INT, &pair);
	MUST(MPI_File_write_at(fh, at + 8192, buffer, 3, pair, &status)); /* 36 */
	MPI_Type_free(&pair);
	/* collective: 2 writes, 2 reads */
	MUST(MPI_File_write_at_all(fh, at + 10000, buffer, 500, MPI_DOUBLE, &status)); /* 4000 */
	MUST(MPI_File_seek(fh, at + 20000, MPI_SEEK_SET));
	MUST(MPI_File_write_all(fh, buffer, 1, vector, &status));           /* 160 */
	MUST(MPI_File_read_at_all(fh, at, buffer, 200, MPI_BYTE, &status)); /* 200 */
	MUST(MPI_File_seek(fh, at, MPI_SEEK_SET));
	MUST(MPI_File_read_all(fh, buffer, 100, MPI_CHAR, MPI_STATUS_IGNORE)); /* 100 */
	/* split collective: 1 write, 1 read */
	MUST(MPI_File_write_at_all_begin(fh, at + 30000, buffer, 64, MPI_INT)); /* 256 */
	MUST(MPI_File_write_at_all_end(fh, buffer, &status));
	MUST(MPI_File_read_at_all_begin(fh, at, buffer, 50, MPI_SHORT)); /* 100 */
	MUST(MPI_File_read_at_all_end(fh, buffer, &status));
	/* nonblocking: 2 writes, 1 read */
	MUST(MPI_File_iwrite_at(fh, at + 40000, buffer, 2048, MPI_BYTE, &request)); /* 2048 */
	MUST(MPI_Wait(&request, &status));
	MUST(MPI_File_iwrite_at(fh, at + 50000, buffer, 1, vector, &request)); /* 160 */
	MUST(MPI_Wait(&request, &status));
	MUST(MPI_File_iread_at(fh, at, buffer, 300, MPI_BYTE, &request)); /* 300 */
	MUST(MPI_Wait(&request, &status));
	MUST(MPI_File_sync(fh));
	MUST(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	MUST(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", info));
	MUST(MPI_File_close(&fh));
	MPI_Type_free(&vector);
	MPI_Info_free(&info);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void own_file(const char *name, int rank)
{
	char path[9000], cwd[4096];
	MPI_File fh;

	snprintf(path, sizeof(path), "%s.self.%d", name, rank);
	MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
	for (int i = 0; i < 5; i++)
		MUST(MPI_File_write_at(fh, i * 8, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	MUST(MPI_File_close(&fh));
	/* the same file by a name that is not the shortest, with ROMIO's prefix of the file system */
	if (!getcwd(cwd, sizeof(cwd)))
		MPI_Abort(MPI_COMM_WORLD, 4);
#ifdef MPICH_VERSION
	snprintf(path, sizeof(path), "ufs:%s/./../%s/%s.self.%d", cwd, base_name(cwd), base_name(name), rank);
#else
	snprintf(path, sizeof(path), "%s/./../%s/%s.self.%d", cwd, base_name(cwd), base_name(name), rank);
#endif
	MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
	MUST(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
	MPI_File fh;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 2) {
		fprintf(stderr, "usage: mpiio_calls FILE\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	/* fails: not counted */
	if (MPI_File_open(MPI_COMM_SELF, "/tmp/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) ==
	    MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 3);
	shared_file(argv[1], rank);
	own_file(argv[1], rank);
	MPI_Finalize();
	return 0;
}
