// SPDX-License-Identifier: BSD-3-Clause
// Renamed and unlinked while open; the name used again by a new file.
#include "prog.h"

int main(void)
{
	char buf[300] = {0};
	int a = prog_open("old", O_RDWR | O_CREAT);
	int b, c;

	EXACT(write(a, buf, 300), 300);
	MUST(rename("old", "new"));
	EXACT(write(a, buf, 200), 200);
	b = prog_open("old", O_RDWR | O_CREAT);
	EXACT(write(b, buf, 7), 7);
	EXACT(write(a, buf, 100), 100);
	MUST(unlink("new"));
	EXACT(pread(a, buf, 50, 0), 50);
	c = prog_open("new", O_RDWR | O_CREAT);
	EXACT(write(c, buf, 3), 3);
	EXACT(write(a, buf, 20), 20);
	MUST(close(a));
	MUST(rename("old", "new"));
	EXACT(write(c, buf, 2), 2);
	EXACT(write(b, buf, 1), 1);
	MUST(close(b));
	MUST(close(c));
	MUST(unlink("new"));
	/* The same name made and removed again and again: inodes come back. */
	for (int i = 0; i < 50; i++) {
		a = prog_open("again", O_WRONLY | O_CREAT | O_EXCL);
		EXACT(write(a, buf, (size_t)i + 1), i + 1);
		MUST(close(a));
		MUST(unlink("again"));
	}
	return 0;
}
