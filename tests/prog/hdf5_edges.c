// SPDX-License-Identifier: BSD-3-Clause
/*
 * HDF5 at its edges, with totals that are known: hdf5_edges DIRECTORY. Every
 * kind of selection, dataspace and layout on a dataset of its own, names, calls
 * that fail, and files closed in every way. Needs no MPI, so that it runs with
 * every build of the library. Expected counters: tests/uprobes/hdf5_edges.bats.
 */
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5_must.h"

static int data[4096];

/* What must not work. */
static void no(hid_t id, int line)
{
	if (id >= 0) {
		fprintf(stderr, "line %d did not fail\n", line);
		exit(2);
	}
}
#define NO(call) no((hid_t)(call), __LINE__)

static hid_t make(hid_t at, const char *name, hid_t space, hid_t how)
{
	return MUST(H5Dcreate2(at, name, H5T_STD_I32LE, space, H5P_DEFAULT, how, H5P_DEFAULT));
}

/* n elements, one after the other, out of memory to what `file` selects */
static void put(hid_t set, hsize_t n, hid_t file)
{
	hid_t mem = MUST(H5Screate_simple(1, &n, NULL));

	MUST(H5Dwrite(set, H5T_NATIVE_INT, mem, file, H5P_DEFAULT, data));
	MUST(H5Dread(set, H5T_NATIVE_INT, mem, file, H5P_DEFAULT, data));
	H5Sclose(mem);
}

static void selections(hid_t file)
{
	hsize_t dims[2] = {12, 20}, start[2] = {0, 0}, stride[2] = {4, 5}, count[2] = {3, 4}, block[2] = {2, 3};
	hsize_t box[2] = {2, 2}, coord[4][2] = {{11, 19}, {0, 0}, {5, 7}, {5, 8}};
	hsize_t seven[7] = {2, 2, 2, 3, 4, 5, 6}, zero[7] = {0}, part[7] = {1, 2, 1, 3, 2, 5, 3};
	hid_t space = MUST(H5Screate_simple(2, dims, NULL)), wide = MUST(H5Screate_simple(7, seven, NULL)),
	      none = MUST(H5Screate_simple(2, dims, NULL)), set;

	/* blocks of 2 x 3, 3 x 4 of them: 72 elements, 288 bytes */
	set = make(file, "blocks", space, H5P_DEFAULT);
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block));
	put(set, 72, space);
	H5Dclose(set);
	/* three boxes of 2 x 2, none beside another: 12 elements, 48 bytes */
	set = make(file, "ored", space, H5P_DEFAULT);
	for (int i = 0; i < 3; i++) {
		start[0] = start[1] = (hsize_t)(3 * i + i * i);
		MUST(H5Sselect_hyperslab(space, i ? H5S_SELECT_OR : H5S_SELECT_SET, start, NULL, box, NULL));
	}
	put(set, 12, space);
	/* one box taken out of a larger one: 16 - 4 elements */
	start[0] = start[1] = 1;
	count[0] = count[1] = 4;
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	start[0] = start[1] = 2;
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_NOTB, start, NULL, box, NULL));
	put(set, 12, space);
	H5Dclose(set);
	set = make(file, "points", space, H5P_DEFAULT);
	MUST(H5Sselect_elements(space, H5S_SELECT_SET, 4, &coord[0][0]));
	put(set, 4, space);
	MUST(H5Sselect_elements(space, H5S_SELECT_APPEND, 1, &coord[3][0]));
	put(set, 5, space);
	H5Dclose(set);
	/* all of it: by H5S_ALL, and by a space of which all is selected: 960 bytes each */
	MUST(H5Sselect_all(space));
	set = make(file, "all", space, H5P_DEFAULT);
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	put(set, 240, space);
	H5Dclose(set);
	/* nothing of it: a call of 0 bytes */
	set = make(file, "none", space, H5P_DEFAULT);
	MUST(H5Sselect_none(none));
	MUST(H5Dwrite(set, H5T_NATIVE_INT, none, none, H5P_DEFAULT, data));
	MUST(H5Dread(set, H5T_NATIVE_INT, none, none, H5P_DEFAULT, data));
	H5Dclose(set);
	/* 1 x 2 x [1 x 3 x 2 x 5 x 3] = 180 elements: the last five dimensions are kept */
	set = make(file, "seven", wide, H5P_DEFAULT);
	MUST(H5Sselect_hyperslab(wide, H5S_SELECT_SET, zero, NULL, part, NULL));
	put(set, 180, wide);
	H5Dclose(set);
	H5Sclose(space);
	H5Sclose(none);
	H5Sclose(wide);
}

static void layouts(hid_t file)
{
	hsize_t n = 50, chunk = 25, more = 100, most = H5S_UNLIMITED, none = 0, six[6] = {2, 2, 2, 4, 6, 8},
		small[6] = {1, 2, 2, 4, 3, 8};
	hid_t space = MUST(H5Screate_simple(1, &n, NULL)), grows = MUST(H5Screate_simple(1, &none, &most)),
	      scalar = MUST(H5Screate(H5S_SCALAR)), null = MUST(H5Screate(H5S_NULL)),
	      wide = MUST(H5Screate_simple(6, six, NULL));
	hid_t how = MUST(H5Pcreate(H5P_DATASET_CREATE)), set;

	/* 50 integers of 4 bytes in each */
	MUST(H5Pset_layout(how, H5D_COMPACT));
	set = make(file, "compact", space, how);
	put(set, 50, H5S_ALL);
	H5Dclose(set);
	H5Pclose(how);
	how = MUST(H5Pcreate(H5P_DATASET_CREATE));
	MUST(H5Pset_external(how, "raw", 0, 200));
	set = make(file, "external", space, how);
	put(set, 50, H5S_ALL);
	H5Dclose(set);
	H5Pclose(how);
	how = MUST(H5Pcreate(H5P_DATASET_CREATE));
	MUST(H5Pset_chunk(how, 1, &chunk));
	MUST(H5Pset_shuffle(how));
	MUST(H5Pset_deflate(how, 9));
	set = make(file, "deflated", space, how);
	put(set, 50, H5S_ALL);
	H5Dclose(set);
	/* made empty, of 50, of 100 */
	set = make(file, "grows", grows, how);
	MUST(H5Dset_extent(set, &n));
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dset_extent(set, &more));
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dflush(set));
	MUST(H5Dflush(set));
	H5Dclose(set);
	H5Pclose(how);
	/* chunks of more than five dimensions */
	how = MUST(H5Pcreate(H5P_DATASET_CREATE));
	MUST(H5Pset_chunk(how, 6, small));
	set = make(file, "chunks6", wide, how);
	H5Dclose(set);
	H5Pclose(how);
	set = make(file, "scalar", scalar, H5P_DEFAULT);
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set);
	set = make(file, "null", null, H5P_DEFAULT);
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set);
	H5Sclose(space);
	H5Sclose(grows);
	H5Sclose(scalar);
	H5Sclose(null);
	H5Sclose(wide);
}

/* One dataset below /g/sub: 7 opens, 7 writes of 40 bytes. */
static void names(hid_t file)
{
	hsize_t n = 10;
	hid_t space = MUST(H5Screate_simple(1, &n, NULL)), g = MUST(H5Gcreate2(file, "g", 0, 0, 0)),
	      sub = MUST(H5Gcreate2(g, "sub", 0, 0, 0)), set[9];

	set[0] = make(sub, "x", space, H5P_DEFAULT);
	set[1] = MUST(H5Dopen2(file, "/g/sub/x", H5P_DEFAULT));
	set[2] = MUST(H5Dopen2(file, "g/./sub//x", H5P_DEFAULT));
	set[3] = MUST(H5Dopen2(g, "sub/x", H5P_DEFAULT));
	set[4] = MUST(H5Oopen(sub, "x", H5P_DEFAULT));
	set[5] = MUST(H5Oopen_by_idx(file, "/g/sub", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
	set[6] = MUST(H5Dopen1(sub, "/g/sub/x"));
	for (int i = 0; i < 7; i++)
		MUST(H5Dwrite(set[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	/* of the file, by what is in it */
	MUST(H5Fflush(set[0], H5F_SCOPE_LOCAL));
	MUST(H5Fflush(g, H5F_SCOPE_GLOBAL));
	for (int i = 0; i < 6; i++)
		MUST(i & 1 ? H5Oclose(set[i]) : H5Dclose(set[i]));
	MUST(H5Idec_ref(set[6]));
	/* without a name at first */
	set[7] = MUST(H5Dcreate_anon(file, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Dwrite(set[7], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Olink(set[7], g, "late", H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Dwrite(set[7], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set[7]);
	/* without a name for good: its record is "e.h5:" */
	set[8] = MUST(H5Dcreate_anon(file, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Dwrite(set[8], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set[8]);
	H5Sclose(space);
	H5Gclose(sub);
	H5Gclose(g);
}

/* None of these calls counts. */
static void mistakes(hid_t file, const char *name)
{
	hsize_t n = 10, few = 3;
	hid_t space = MUST(H5Screate_simple(1, &n, NULL)), mem = MUST(H5Screate_simple(1, &few, NULL));
	hid_t set = make(file, "wrong", space, H5P_DEFAULT), closed = make(file, "closed", space, H5P_DEFAULT);
	FILE *other = fopen("other.h5", "w");

	fputs("this is no HDF5 file", other);
	fclose(other);
	H5Dclose(closed);
	NO(H5Fopen("no/such.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
	NO(H5Fopen("other.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
	NO(H5Fcreate(name, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
	NO(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)); /* it is open */
	NO(H5Dopen2(file, "/no/such", H5P_DEFAULT));
	NO(H5Dopen2(file, "/", H5P_DEFAULT));
	NO(H5Dcreate2(file, "wrong", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	NO(H5Dwrite(set, H5T_NATIVE_INT, mem, space, H5P_DEFAULT, data)); /* 3 elements for 10 */
	NO(H5Dread(set, H5T_NATIVE_INT, mem, space, H5P_DEFAULT, data));
	NO(H5Dwrite(set, H5T_C_S1, H5S_ALL, H5S_ALL, H5P_DEFAULT, data)); /* no such conversion */
	NO(H5Dwrite(closed, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	NO(H5Dread(space, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	NO(H5Dwrite(-1, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	NO(H5Dflush(closed));
	NO(H5Dclose(closed));
	NO(H5Dclose(file));
	NO(H5Fflush(-1, H5F_SCOPE_LOCAL));
	NO(H5Fflush(space, H5F_SCOPE_LOCAL));
	NO(H5Fclose(-1));
	NO(H5Fclose(set));
	H5Dclose(set);
	H5Sclose(space);
	H5Sclose(mem);
}

/* Opened for reading: a write fails inside the library. Then a file of two ids, closed by both. */
static void again(const char *name)
{
	hid_t file = MUST(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT)), twice, strong, set, access;

	twice = MUST(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT));
	set = MUST(H5Dopen2(twice, "/wrong", H5P_DEFAULT));
	NO(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Fclose(file));
	NO(H5Fclose(file));
	NO(H5Fflush(file, H5F_SCOPE_LOCAL));
	/* goes on while the dataset is open */
	MUST(H5Fclose(twice));
	MUST(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	H5Dclose(set);
	/* closes what is open in it */
	access = MUST(H5Pcreate(H5P_FILE_ACCESS));
	MUST(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
	strong = MUST(H5Fcreate("strong.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
	set = make(strong, "left", MUST(H5Screate(H5S_SCALAR)), H5P_DEFAULT);
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Fflush(strong, H5F_SCOPE_LOCAL));
	MUST(H5Fclose(strong));
	NO(H5Dclose(set));
	/* as Python does */
	file = MUST(H5Fcreate("counted.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
	MUST(H5Iinc_ref(file));
	MUST(H5Idec_ref(file));
	MUST(H5Fflush(file, H5F_SCOPE_LOCAL));
	MUST(H5Idec_ref(file));
}

/* Killed in the middle of a write that converts without end. */
static herr_t killer(hid_t from, hid_t to, H5T_cdata_t *how, size_t n, size_t step, size_t back, void *buf, void *bkg,
		     hid_t list)
{
	if (how->command == H5T_CONV_CONV)
		kill(getpid(), SIGKILL);
	how->need_bkg = H5T_BKG_NO;
	(void)from, (void)to, (void)n, (void)step, (void)back, (void)buf, (void)bkg, (void)list;
	return 0;
}

static void killed(void)
{
	hsize_t n = 10;
	hid_t file = MUST(H5Fcreate("killed.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), set;

	set = make(file, "x", MUST(H5Screate_simple(1, &n, NULL)), H5P_DEFAULT);
	MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
	MUST(H5Fflush(file, H5F_SCOPE_LOCAL));
	MUST(H5Tregister(H5T_PERS_HARD, "killer", H5T_NATIVE_DOUBLE, H5T_STD_I32LE, killer));
	H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
}

int main(int argc, char **argv)
{
	hid_t file;

	if (argc < 2 || chdir(argv[1]) != 0)
		return 3;
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	if (argc == 3 && !strcmp(argv[2], "killed")) {
		killed();
		return 4;
	}
	file = MUST(H5Fcreate("e.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
	selections(file);
	layouts(file);
	names(file);
	mistakes(file, "e.h5");
	MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
	MUST(H5Fclose(file));
	again("e.h5");
	return 0;
}
