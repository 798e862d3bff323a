// SPDX-License-Identifier: BSD-3-Clause
/*
 * More shapes of accesses than the kernel's table is to hold: hdf5_shapes FILE. Four
 * common ones, 20 times and less, 33,124 that come once, and when there is a file
 * "go" the common ones as often again. A child ends between, which is when the
 * daemon looks after its tables. Then there is a file "done".
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDE  400
#define RARE  182
#define FIRST 200 /* strides of common ones, out of the others' reach */

static hid_t set, space, mem;

static void put(hsize_t rows, hsize_t columns)
{
	hsize_t start[2] = {0, 0}, stride[2] = {rows, columns}, count[2] = {2, 2};
	static const char data[4];

	if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) < 0 ||
	    H5Dwrite(set, H5T_NATIVE_CHAR, mem, space, H5P_DEFAULT, data) < 0)
		exit(1);
}

static void common(void)
{
	for (hsize_t i = 0; i < 4; i++)
		for (hsize_t times = 20; times > 4 * i; times--)
			put(FIRST + i, FIRST + 10 * i);
}

int main(int argc, char **argv)
{
	hsize_t dims[2] = {SIDE, SIDE}, two[2] = {2, 2};
	hid_t file = H5Fcreate(argv[argc - 1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	pid_t pid;

	space = H5Screate_simple(2, dims, NULL);
	mem = H5Screate_simple(2, two, NULL);
	set = H5Dcreate2(file, "x", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	common();
	for (hsize_t i = 1; i <= RARE; i++)
		for (hsize_t j = 1; j <= RARE; j++)
			put(i, j);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	fclose(fopen("done", "w"));
	for (int i = 0; i < 12000 && access("go", F_OK) != 0; i++)
		usleep(10000);
	common();
	return H5Dclose(set) < 0 || H5Fclose(file) < 0;
}
