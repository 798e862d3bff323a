// SPDX-License-Identifier: BSD-3-Clause
// mmap, msync, munmap; a mapping that outlives its descriptor.
#include "prog.h"

#include <sys/mman.h>

static char *map(size_t bytes, int flags, int fd, off_t at)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, at);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(3);
	}
	return p;
}

int main(void)
{
	int fd = prog_open("mapped", O_RDWR | O_CREAT);
	char *a, *b, *anonymous;

	MUST(ftruncate(fd, 65536));
	a = map(65536, MAP_SHARED, fd, 0);
	b = map(4096, MAP_PRIVATE, fd, 8192);
	anonymous = map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(a, 'm', 65536);
	memset(b, 'p', 4096);
	anonymous[0] = 1;
	MUST(msync(a, 65536, MS_SYNC));
	MUST(msync(a + 4096, 4096, MS_ASYNC));
	MUST(munmap(b, 4096));
	MUST(close(fd));
	a[0] = 'x';
	MUST(msync(a, 4096, MS_SYNC));
	MUST(munmap(a, 65536));
	fd = prog_open("mapped", O_RDONLY);
	if (mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		return 4;
	return 0;
}
