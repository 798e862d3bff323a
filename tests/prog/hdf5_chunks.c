// SPDX-License-Identifier: BSD-3-Clause
/*
 * Chunks that make less, and more, than was asked for: hdf5_chunks FILE. Two
 * datasets of 400,000 bytes in 10 chunks of 40,000, one of them compressed, are
 * written whole; then one element of each of 4 plain chunks is read. Prints the
 * bytes that the library has stored of the compressed one.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#include "hdf5_must.h"

#define ROWS    500
#define COLUMNS 200
#define SIDE    100

static int data[ROWS][COLUMNS];

static hsize_t write_whole(hid_t file, const char *name, int packed)
{
	hsize_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {SIDE, SIDE}, stored;
	hid_t space = MUST(H5Screate_simple(2, dims, NULL)), how = MUST(H5Pcreate(H5P_DATASET_CREATE)), set;

	MUST(H5Pset_chunk(how, 2, chunk));
	MUST(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER));
	if (packed)
		MUST(H5Pset_deflate(how, 6));
	set = MUST(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dflush(set));
	stored = H5Dget_storage_size(set);
	H5Dclose(set);
	H5Pclose(how);
	H5Sclose(space);
	return stored;
}

static void read_few(hid_t file)
{
	hid_t set = MUST(H5Dopen2(file, "plain", H5P_DEFAULT)), space = MUST(H5Dget_space(set));
	hsize_t start[2] = {7, 7}, one[2] = {1, 1};
	hid_t mem = MUST(H5Screate_simple(1, one, NULL));

	for (int i = 0; i < 4; i++, start[0] += SIDE) {
		MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL));
		MUST(H5Dread(set, H5T_NATIVE_INT, mem, space, H5P_DEFAULT, data));
	}
	H5Dclose(set);
	H5Sclose(mem);
	H5Sclose(space);
}

int main(int argc, char **argv)
{
	hid_t file = MUST(H5Fcreate(argv[argc - 1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));

	for (int i = 0; i < ROWS * COLUMNS; i++)
		data[i / COLUMNS][i % COLUMNS] = i / COLUMNS; /* rows of one number each */
	write_whole(file, "plain", 0);
	printf("stored %llu\n", (unsigned long long)write_whole(file, "packed", 1));
	MUST(H5Fclose(file));
	file = MUST(H5Fopen(argv[argc - 1], H5F_ACC_RDONLY, H5P_DEFAULT));
	read_few(file);
	MUST(H5Fclose(file));
	return 0;
}
