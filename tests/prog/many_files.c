// SPDX-License-Identifier: BSD-3-Clause
// One process makes very many files, each with its own name, writes a few bytes
// and removes it again. Prints: opens writes bytes_written unlinks
// many_files COUNT
#include "prog.h"

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, bytes = 0;
	char name[32], buf[64] = {0};

	for (long i = 0; i < count; i++) {
		size_t n = (size_t)(i % 50) + 1;
		int fd;

		snprintf(name, sizeof(name), "m%ld", i);
		fd = prog_open(name, O_WRONLY | O_CREAT);
		EXACT(write(fd, buf, n), n);
		MUST(close(fd));
		MUST(unlink(name));
		bytes += (long)n;
	}
	printf("%ld %ld %ld %ld\n", count, count, bytes, count);
	return 0;
}
