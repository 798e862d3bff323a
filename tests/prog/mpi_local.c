// SPDX-License-Identifier: BSD-3-Clause
// An MPI library loaded privately, as Python's mpi4py does: the program itself
// has no MPI; it opens a plugin with RTLD_LOCAL, and the plugin brings libmpi.
// Built twice: as the program, and with -DPLUGIN -shared as the plugin.
#ifdef PLUGIN
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((visibility("default"))) int plugin_run(const char *dir);

int plugin_run(const char *dir)
{
	char path[512];
	int fd, rank;

	if (MPI_Init(NULL, NULL) != 0)
		return 3;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s/local", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	if (fd < 0 || pwrite(fd, path, 100, rank * 100) != 100)
		return 3;
	close(fd);
	return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(const char *) = plugin ? (int (*)(const char *))dlsym(plugin, "plugin_run") : NULL;

	if (!run) {
		fprintf(stderr, "usage: mpi_local PLUGIN DIR: %s\n", dlerror());
		return 2;
	}
	return run(argv[2]);
}
#endif
