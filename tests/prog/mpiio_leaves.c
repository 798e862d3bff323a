// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that ends with its files open: mpiio_leaves FILE COUNT. It opens FILE
 * so often, writes 8 bytes by each, makes the file "opened" and ends when there is
 * a file "end". Its parent, which has no MPI, then makes "done" and goes on when
 * there is a file "go".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(const char *name)
{
	for (int i = 0; i < 12000 && access(name, F_OK) != 0; i++)
		usleep(10000);
	return access(name, F_OK);
}

static int leave(const char *path, int n)
{
	MPI_File fh;

	MPI_Init(NULL, NULL);
	for (int i = 0; i < n; i++)
		if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh) ||
		    MPI_File_write_at(fh, 8 * i, "abcdefg", 8, MPI_BYTE, MPI_STATUS_IGNORE))
			return 1;
	fclose(fopen("opened", "w"));
	return wait_for("end") != 0;
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(leave(argv[1], argc > 2 ? atoi(argv[2]) : 1));
	waitpid(pid, &status, 0);
	fclose(fopen("done", "w"));
	return wait_for("go") != 0 || status != 0;
}
