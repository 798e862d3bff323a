// SPDX-License-Identifier: BSD-3-Clause
// Two descriptions and one dup of a file, read and written in turn.
#include "prog.h"

int main(void)
{
	char buf[1024] = {0};
	int w = prog_open("file", O_RDWR | O_CREAT);
	int a, b, c;

	for (int i = 0; i < 8; i++)
		EXACT(write(w, buf, sizeof(buf)), sizeof(buf));
	a = prog_open("file", O_RDONLY);
	b = prog_open("./../w/file", O_RDWR);
	c = (int)MUST(dup(a));
	for (int i = 0; i < 4; i++) {
		EXACT(read(a, buf, 512), 512);
		EXACT(read(b, buf, 1024), 1024);
		EXACT(read(c, buf, 512), 512);
		EXACT(pread(b, buf, 10, 100 * i), 10);
	}
	EXACT(write(b, buf, 1024), 1024);
	EXACT(pwrite(w, buf, 1024, 0), 1024);
	EXACT(write(w, buf, 1024), 1024);
	MUST(close(a));
	EXACT(read(c, buf, 1024), 1024);
	MUST(close(c));
	MUST(close(b));
	MUST(close(w));
	return 0;
}
