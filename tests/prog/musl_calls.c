// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program of another C library: 3 streams, 4,000 bytes by write, a child.
 * Prints "done" and ends with 7. Expected: tests/uprobes/found.bats.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char data[1000];
	FILE *f;
	int fd;

	memset(data, 'm', sizeof(data));
	for (int i = 0; i < 3; i++) {
		f = fopen("stream", i ? "a" : "w");
		if (!f)
			return 1;
		fprintf(f, "%d\n", i);
		fclose(f);
	}
	fd = open("plain", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 4; i++)
		if (write(fd, data, sizeof(data)) != (ssize_t)sizeof(data))
			return 1;
	close(fd);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	puts("done");
	return 7;
}
