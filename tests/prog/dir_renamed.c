// SPDX-License-Identifier: BSD-3-Clause
// The folder of an open file is renamed; another takes its name.
#include "prog.h"

int main(void)
{
	char buf[128] = {0};
	int a, b, dir;

	MUST(mkdir("d", 0755));
	MUST(mkdir("d/sub", 0755));
	a = prog_open("d/sub/f", O_RDWR | O_CREAT);
	EXACT(write(a, buf, 128), 128);
	dir = prog_open("d/sub", O_RDONLY | O_DIRECTORY);
	MUST(rename("d", "e"));
	EXACT(write(a, buf, 64), 64);
	b = prog_open("e/sub/f", O_RDWR);
	EXACT(write(b, buf, 32), 32);
	MUST(close(b));
	b = (int)MUST(openat(dir, "g", O_RDWR | O_CREAT, 0644));
	EXACT(write(b, buf, 16), 16);
	MUST(close(b));
	MUST(mkdir("d", 0755));
	MUST(mkdir("d/sub", 0755));
	b = prog_open("d/sub/f", O_RDWR | O_CREAT);
	EXACT(write(b, buf, 8), 8);
	EXACT(write(a, buf, 4), 4);
	MUST(unlinkat(dir, "f", 0));
	MUST(close(a));
	MUST(close(b));
	MUST(close(dir));
	return 0;
}
