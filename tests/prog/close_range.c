// SPDX-License-Identifier: BSD-3-Clause
// close_range: many descriptors at once; marked close-on-exec; unshared.
#include "prog.h"

#include <linux/close_range.h>

int main(int argc, char **argv)
{
	char *words[] = {argv[0], "again", NULL};
	char name[16];
	int fd = -1;

	if (argc > 1) {
		if (write(50, "x", 1) >= 0)
			return 4;
		EXACT(write(20, "kept", 4), 4);
		return 0;
	}
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		fd = prog_open(name, O_WRONLY | O_CREAT);
		EXACT(write(fd, name, 2), 2);
	}
	MUST(dup2(fd, 20));
	MUST(dup2(fd, 50));
	MUST(close_range((unsigned)fd - 3, (unsigned)fd, 0));
	MUST(close_range(40, ~0u, CLOSE_RANGE_CLOEXEC));
	EXACT(write(20, "ab", 2), 2);
	EXACT(write(50, "cd", 2), 2);
	execv(argv[0], words);
	return 4;
}
