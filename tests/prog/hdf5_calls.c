// SPDX-License-Identifier: BSD-3-Clause
/*
 * HDF5 files and datasets with totals that are known: hdf5_calls FILE [mpio].
 * With mpio, all ranks of MPI_COMM_WORLD open FILE together and write their own
 * rows. Expected counters: tests/uprobes/hdf5.bats.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_must.h"

#define ROWS    64
#define COLUMNS 128

static double data[ROWS][COLUMNS];

/* 3 opens; 4 writes: 65536 + 4096 + 80 + 24 bytes; 2 reads: 65536 + 1024 */
static void plain(hid_t file)
{
	hsize_t dims[2] = {ROWS, COLUMNS}, start[2] = {2, 0}, count[2] = {4, COLUMNS}, ten = 10, three = 3;
	hsize_t points[3][2] = {{0, 0}, {5, 5}, {9, 100}}, one[2] = {1, 5}, at[2] = {0, 0};
	hid_t group = MUST(H5Gcreate2(file, "/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	hid_t space = MUST(H5Screate_simple(2, dims, NULL)), mem, set;

	set = MUST(H5Dcreate2(group, "plain", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	mem = MUST(H5Screate_simple(2, count, NULL));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, data)); /* regular: 4 x 128 x 8 */
	H5Sclose(mem);
	mem = MUST(H5Screate_simple(1, &ten, NULL));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL));
	at[0] = 7;
	at[1] = 17;
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_OR, at, NULL, one, NULL));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, data)); /* irregular: 10 x 8 */
	H5Sclose(mem);
	mem = MUST(H5Screate_simple(1, &three, NULL));
	MUST(H5Sselect_elements(space, H5S_SELECT_SET, 3, &points[0][0]));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, data)); /* points: 3 x 8 */
	H5Sclose(mem);
	H5Dflush(set);
	H5Dclose(set);
	set = MUST(H5Dopen2(file, "/group/plain", H5P_DEFAULT));
	MUST(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set);
	set = MUST(H5Oopen(group, "plain", H5P_DEFAULT));
	count[0] = 1;
	mem = MUST(H5Screate_simple(2, count, NULL));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	MUST(H5Dread(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, data)); /* regular: 128 x 8 */
	H5Sclose(mem);
	H5Oclose(set);
	H5Sclose(space);
	H5Gclose(group);
}

/* stored as 32-bit integers, written from doubles: bytes are the file's */
static void converted(hid_t file)
{
	hsize_t n = 1000, chunk = 100;
	hid_t space = MUST(H5Screate_simple(1, &n, NULL)), list = MUST(H5Pcreate(H5P_DATASET_CREATE)), set;

	MUST(H5Pset_chunk(list, 1, &chunk));
	set = MUST(H5Dcreate2(file, "chunked", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data)); /* 4000 */
	H5Dclose(set);
	H5Pclose(list);
	H5Sclose(space);
}

/*
 * Chunked and compressed, opened by a deprecated call: 3 writes of every second
 * row and third column (8 x 5 of 4 bytes), one stored chunk written as it is
 * (100 bytes) and read back, and one read of blocks of 2 x 3.
 */
static void compressed(hid_t file)
{
	hsize_t dims[2] = {16, 15}, chunk[2] = {8, 5}, start[2] = {0, 0}, stride[2] = {2, 3}, count[2] = {8, 5};
	hsize_t few[2] = {2, 1}, block[2] = {2, 3}, step[2] = {8, 4}, n = 40, zero[2] = {8, 10};
	hid_t list = MUST(H5Pcreate(H5P_DATASET_CREATE)), space = MUST(H5Screate_simple(2, dims, NULL)), mem, set;
	static unsigned char stored[100], back[100];
	uint32_t filters = 0;

	MUST(H5Pset_chunk(list, 2, chunk));
	MUST(H5Pset_deflate(list, 6));
	set = MUST(H5Dcreate2(file, "packed", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
	H5Dclose(set);
	set = MUST(H5Dopen1(file, "packed"));
	mem = MUST(H5Screate_simple(1, &n, NULL));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
	for (int i = 0; i < 3; i++)
		MUST(H5Dwrite(set, H5T_STD_I32LE, mem, space, H5P_DEFAULT, data));
	H5Sclose(mem);
	n = 12;
	mem = MUST(H5Screate_simple(1, &n, NULL));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, few, block));
	MUST(H5Dread(set, H5T_STD_I32LE, mem, space, H5P_DEFAULT, data));
	H5Sclose(mem);
	MUST(H5Dwrite_chunk(set, H5P_DEFAULT, 0, zero, sizeof(stored), stored));
	MUST(H5Dread_chunk(set, H5P_DEFAULT, zero, &filters, back));
	H5Dclose(set);
	H5Sclose(space);
	H5Pclose(list);
}

static void alone(const char *name)
{
	hid_t file = MUST(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));

	plain(file);
	converted(file);
	compressed(file);
	MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
	H5Fclose(file);
	file = MUST(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT));
	H5Fclose(file);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	if (H5Fopen("no/such/file.h5", H5F_ACC_RDONLY, H5P_DEFAULT) >= 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

#ifdef H5_HAVE_PARALLEL
/* 1 open, 1 write and 1 collective write of 1024 bytes by each rank */
static void together(const char *name, int rank, int size)
{
	hsize_t dims[2] = {(hsize_t)size, COLUMNS}, start[2] = {(hsize_t)rank, 0}, count[2] = {1, COLUMNS};
	hid_t access = MUST(H5Pcreate(H5P_FILE_ACCESS)), transfer = MUST(H5Pcreate(H5P_DATASET_XFER));
	hid_t file, space, mem, set;

	MUST(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
	MUST(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
	file = MUST(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access));
	space = MUST(H5Screate_simple(2, dims, NULL));
	mem = MUST(H5Screate_simple(2, count, NULL));
	set = MUST(H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, data));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, transfer, data));
	H5Dclose(set);
	H5Sclose(mem);
	H5Sclose(space);
	H5Fclose(file);
	H5Pclose(transfer);
	H5Pclose(access);
}
#endif

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc == 3 && !strcmp(argv[2], "mpio"))
		together(argv[1], rank, size);
	else
		alone(argv[1]);
	MPI_Finalize();
	return 0;
}
