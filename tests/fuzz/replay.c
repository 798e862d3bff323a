/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A main for a fuzz target: runs the files (or all files of the folders) named
 * on the command line through it. Fails when there are none.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static int one_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *bytes;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st)) {
		perror(name);
		exit(1);
	}
	/* exactly as long as the input, so that reading beyond it is seen */
	bytes = malloc(st.st_size ? (size_t)st.st_size : 1);
	n = bytes ? read(fd, bytes, (size_t)st.st_size) : -1;
	if (n != st.st_size) {
		perror(name);
		exit(1);
	}
	LLVMFuzzerTestOneInput(bytes, (size_t)n);
	free(bytes);
	close(fd);
	return 1;
}

static int all_files(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!d)
		return one_file(AT_FDCWD, path);
	while ((e = readdir(d))) {
		if (e->d_name[0] != '.')
			n += one_file(dirfd(d), e->d_name);
	}
	closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++)
		n += all_files(argv[i]);
	fprintf(stderr, "%d inputs replayed\n", n);
	return n == 0;
}
