// SPDX-License-Identifier: BSD-3-Clause
// link: static
// A program without a dynamic loader: nothing can be preloaded into it.
#include "prog.h"

int main(void)
{
	char buf[1000] = {0};
	int fd = prog_open("static", O_RDWR | O_CREAT);
	FILE *f;

	for (int i = 0; i < 7; i++)
		EXACT(write(fd, buf, sizeof(buf)), sizeof(buf));
	EXACT(pread(fd, buf, 500, 6800), 200);
	MUST(close(fd));
	f = fopen("stream", "w");
	if (!f)
		return 4;
	for (int i = 0; i < 3000; i++)
		fprintf(f, "line %d\n", i);
	return fclose(f) != 0;
}
