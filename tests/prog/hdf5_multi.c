// SPDX-License-Identifier: BSD-3-Clause
/*
 * What HDF5 1.14 has beyond 1.10: several datasets in one call, and the forms
 * with event sets. hdf5_multi FILE. Expected counters: tests/uprobes/hdf5_newer.bats.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#include "hdf5_must.h"

#define SETS 3

int main(int argc, char **argv)
{
	static double data[SETS][1000];
	hsize_t dims[SETS] = {100, 200, 300}, start = 10, count = 20;
	hid_t file, set[SETS], type[SETS], all[SETS], some[SETS], rows[SETS], events, one;
	const void *from[SETS];
	void *to[SETS];

	MPI_Init(&argc, &argv);
	file = MUST(H5Fcreate(argc > 1 ? argv[1] : "m.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
	for (int i = 0; i < SETS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "set%d", i);
		rows[i] = MUST(H5Screate_simple(1, &dims[i], NULL));
		set[i] =
			MUST(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, rows[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
		type[i] = H5T_NATIVE_DOUBLE;
		all[i] = H5S_ALL;
		from[i] = to[i] = data[i];
	}
	/* 800, 1600, 2400 bytes out; then 20 rows of each in; then nothing of a call that fails */
	MUST(H5Dwrite_multi(SETS, set, type, all, all, H5P_DEFAULT, from));
	for (int i = 0; i < SETS; i++) {
		MUST(H5Sselect_hyperslab(rows[i], H5S_SELECT_SET, &start, NULL, &count, NULL));
		some[i] = MUST(H5Screate_simple(1, &count, NULL));
	}
	MUST(H5Dread_multi(SETS, set, type, some, rows, H5P_DEFAULT, to));
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	type[1] = H5I_INVALID_HID;
	if (H5Dwrite_multi(SETS, set, type, all, all, H5P_DEFAULT, from) >= 0)
		return 1;
	for (int i = 0; i < SETS; i++)
		H5Dclose(set[i]);
	H5Fclose(file);

	/* the same file again, with an event set: one more open of each, 2400 bytes in, 160 out */
	events = MUST(H5EScreate());
	file = MUST(H5Fopen_async(argc > 1 ? argv[1] : "m.h5", H5F_ACC_RDWR, H5P_DEFAULT, events));
	one = MUST(H5Dopen_async(file, "set2", H5P_DEFAULT, events));
	MUST(H5Dread_async(one, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data[2], events));
	MUST(H5Dwrite_async(one, H5T_NATIVE_DOUBLE, some[2], rows[2], H5P_DEFAULT, data[2], events));
	MUST(H5Fflush_async(file, H5F_SCOPE_LOCAL, events));
	MUST(H5Dclose_async(one, events));
	MUST(H5Fclose_async(file, events));
	{
		size_t left;
		hbool_t failed;

		MUST(H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed));
		if (failed)
			return 1;
	}
	H5ESclose(events);
	MPI_Finalize();
	return 0;
}
