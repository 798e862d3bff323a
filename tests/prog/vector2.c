// SPDX-License-Identifier: BSD-3-Clause
// preadv2 and pwritev2: offset -1 is the current position; RWF_APPEND.
#include "prog.h"

#include <sys/uio.h>

int main(void)
{
	char buf[4096] = {0};
	struct iovec iov[3] = {{buf, 1000}, {buf + 1000, 24}, {buf + 2000, 1024}};
	int fd = prog_open("v2", O_RDWR | O_CREAT);

	EXACT(pwritev2(fd, iov, 3, -1, 0), 2048);
	EXACT(pwritev2(fd, iov, 3, -1, 0), 2048);
	EXACT(pwritev2(fd, iov, 1, 100000, 0), 1000);
	EXACT(pwritev2(fd, iov, 1, 0, RWF_APPEND), 1000);
	EXACT(pwritev2(fd, iov, 2, -1, RWF_APPEND), 1024);
	EXACT(preadv2(fd, iov, 2, 0, 0), 1024);
	MUST(lseek(fd, 100, SEEK_SET));
	EXACT(preadv2(fd, iov, 3, -1, 0), 2048);
	EXACT(preadv2(fd, iov, 1, -1, 0), 1000);
	MUST(close(fd));
	return 0;
}
