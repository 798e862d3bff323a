// SPDX-License-Identifier: BSD-3-Clause
// Bytes that move between files without passing through the program.
#include "prog.h"

#include <sys/sendfile.h>

int main(void)
{
	char buf[65536];
	int in, out, p[2];
	off_t off = 1000;
	loff_t a = 500, b = 90000;

	memset(buf, 'c', sizeof(buf));
	in = prog_open("in", O_RDWR | O_CREAT);
	EXACT(write(in, buf, sizeof(buf)), sizeof(buf));
	MUST(lseek(in, 0, SEEK_SET));
	out = prog_open("out", O_RDWR | O_CREAT);

	EXACT(sendfile(out, in, NULL, 10000), 10000);
	EXACT(sendfile(out, in, &off, 3000), 3000);
	EXACT(copy_file_range(in, NULL, out, NULL, 8000, 0), 8000);
	EXACT(copy_file_range(in, &a, out, &b, 4000, 0), 4000);
	MUST(pipe(p));
	EXACT(splice(in, NULL, p[1], NULL, 5000, 0), 5000);
	EXACT(splice(p[0], NULL, out, NULL, 5000, 0), 5000);
	EXACT(splice(in, &a, p[1], NULL, 2000, 0), 2000);
	EXACT(splice(p[0], NULL, out, &b, 2000, 0), 2000);
	EXACT(sendfile(p[1], in, NULL, 100), 100);
	MUST(lseek(in, 0, SEEK_END));
	EXACT(sendfile(out, in, NULL, 100), 0);
	MUST(close(in));
	MUST(close(out));
	return 0;
}
