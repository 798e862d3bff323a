// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that end with all their datasets open: hdf5_leaves FILE PROCESSES.
 * Each writes 4 bytes to each of 1,000 datasets, by strides that nobody else has.
 * Then it makes the file "done" and goes on when there is a file "go".
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETS  1000
#define SIDES 320

static int leave(const char *path, int number)
{
	hsize_t dims[2] = {2 * SIDES, 2 * SIDES}, start[2] = {0, 0}, count[2] = {2, 2}, stride[2], two[2] = {2, 2};
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t space = H5Screate_simple(2, dims, NULL), mem = H5Screate_simple(2, two, NULL);
	hid_t how = H5Pcreate(H5P_DATASET_CREATE);
	char data[4] = "abc", name[16];

	H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
	for (int i = 0; i < SETS; i++) {
		int which = number * SETS + i;
		hid_t set;

		snprintf(name, sizeof(name), "s%d", i);
		set = H5Dcreate2(file, name, H5T_NATIVE_CHAR, space, H5P_DEFAULT, how, H5P_DEFAULT);
		stride[0] = (hsize_t)(which / SIDES % SIDES) + 1;
		stride[1] = (hsize_t)(which % SIDES) + 1;
		H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
		if (set < 0 || H5Dwrite(set, H5T_NATIVE_CHAR, mem, space, H5P_DEFAULT, data) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0, n = argc > 2 ? atoi(argv[2]) : 1;

	for (int i = 0; i < n && status == 0; i++) {
		pid_t pid;

		/* one that is cut and written again is flushed by some file systems when it is closed */
		unlink(argv[1]);
		pid = fork();
		if (pid == 0)
			_exit(leave(argv[1], i));
		waitpid(pid, &status, 0);
	}
	fclose(fopen("done", "w"));
	for (int i = 0; i < 6000 && access("go", F_OK) != 0; i++)
		usleep(10000);
	return status != 0;
}
