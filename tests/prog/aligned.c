// SPDX-License-Identifier: BSD-3-Clause
// Buffers aligned and not: 4 unaligned of 10 operations.
#include "prog.h"

#include <sys/uio.h>

int main(void)
{
	static char buf[4096] __attribute__((aligned(64)));
	struct iovec good[2] = {{buf, 8}, {buf + 64, 8}}, bad[2] = {{buf, 8}, {buf + 65, 8}};
	int fd = prog_open("aligned", O_RDWR | O_CREAT);

	EXACT(write(fd, buf, 8), 8);
	EXACT(write(fd, buf + 8, 8), 8);
	EXACT(write(fd, buf + 1, 8), 8);     /* not */
	EXACT(pwrite(fd, buf + 4, 8, 0), 8); /* not */
	EXACT(pread(fd, buf + 16, 8, 0), 8);
	EXACT(pread(fd, buf + 17, 8, 0), 8); /* not */
	EXACT(writev(fd, good, 2), 16);
	EXACT(writev(fd, bad, 2), 16); /* not */
	EXACT(pwritev(fd, good, 2, 0), 16);
	EXACT(read(fd, buf, 8), 0);
	return 0;
}
