// SPDX-License-Identifier: BSD-3-Clause
/*
 * hdf5_rounds FOLDER STOP: rounds of calls until STOP exists; prints how many. In each:
 *   3 H5Dwrite and 2 H5Dread of 16 ints on dataset "d" of FOLDER/kept.h5;
 *   one H5Dwrite on "d" of FOLDER/again.h5, made anew and closed.
 * Expected: tests/service/survive.bats.
 */
#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

#include "hdf5_must.h"

#define N 16

struct open {
	hid_t file, space, dataset;
};

static struct open make(const char *name)
{
	hsize_t n = N;
	struct open o;

	o.file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	MUST(o.file);
	o.space = H5Screate_simple(1, &n, NULL);
	o.dataset = H5Dcreate2(o.file, "d", H5T_NATIVE_INT, o.space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	MUST(o.dataset);
	return o;
}

static void done(struct open *o)
{
	H5Dclose(o->dataset);
	H5Sclose(o->space);
	MUST(H5Fclose(o->file));
}

int main(int argc, char **argv)
{
	int data[N] = {0};
	struct open kept;
	long rounds = 0;

	if (argc != 3 || chdir(argv[1]) != 0)
		return 2;
	kept = make("kept.h5");
	do {
		struct open again;

		for (int i = 0; i < 3; i++)
			MUST(H5Dwrite(kept.dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
		for (int i = 0; i < 2; i++)
			MUST(H5Dread(kept.dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
		again = make("again.h5");
		MUST(H5Dwrite(again.dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
		done(&again);
		rounds++;
		usleep(1000);
	} while (access(argv[2], F_OK) != 0);
	done(&kept);
	printf("%ld\n", rounds);
	return 0;
}
