// SPDX-License-Identifier: BSD-3-Clause
// O_APPEND: where the bytes really land, whatever offset the call names.
#include "prog.h"

int main(void)
{
	char buf[1000] = {0};
	int fd = prog_open("log", O_WRONLY | O_CREAT);
	pid_t child;

	EXACT(write(fd, buf, 1000), 1000);
	MUST(close(fd));
	fd = prog_open("log", O_RDWR | O_APPEND);
	EXACT(write(fd, buf, 1000), 1000);
	EXACT(pwrite(fd, buf, 500, 0), 500);
	MUST(lseek(fd, 0, SEEK_SET));
	EXACT(read(fd, buf, 100), 100);
	EXACT(write(fd, buf, 10), 10);
	child = (pid_t)MUST(fork());
	if (child == 0) {
		EXACT(write(fd, buf, 77), 77);
		_exit(0);
	}
	prog_wait(child);
	EXACT(write(fd, buf, 78), 78);
	MUST(fcntl(fd, F_SETFL, 0));
	EXACT(pwrite(fd, buf, 500, 0), 500);
	MUST(close(fd));
	return 0;
}
