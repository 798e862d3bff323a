// SPDX-License-Identifier: BSD-3-Clause
// 32 distinct sizes and strides, in and out of order; every size bucket but the largest.
#include "prog.h"

int main(void)
{
	static char buf[11 << 20];
	static const size_t edges[] = {
		1,      100,     101,           1024,    1025,          10240,    10241,         102400,
		102401, 1 << 20, (1 << 20) + 1, 4 << 20, (4 << 20) + 1, 10 << 20, (10 << 20) + 1};
	int fd = prog_open("edges", O_RDWR | O_CREAT);
	off_t at = 0;

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		EXACT(pwrite(fd, buf, edges[i], 0), edges[i]);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		MUST(pread(fd, buf, edges[i], (off_t)i));
	MUST(close(fd));

	fd = prog_open("sizes", O_RDWR | O_CREAT);
	for (int round = 0; round < 3; round++)
		for (int i = 1; i <= 32; i++)
			for (int k = 0; k < (i == 20 ? 4 : i == 7 ? 3 : 1); k++)
				EXACT(write(fd, buf, (size_t)i * 10), i * 10);
	MUST(close(fd));

	fd = prog_open("strides", O_RDWR | O_CREAT);
	for (int round = 0; round < 2; round++)
		for (int i = 1; i <= 32; i++) {
			EXACT(pwrite(fd, buf, 100, at), 100);
			at += 100 + i * 8;
			EXACT(pwrite(fd, buf, 100, at), 100);
			at += 100 + (i % 3) * 512;
		}
	MUST(close(fd));

	fd = prog_open("back", O_RDWR | O_CREAT);
	for (int i = 50; i >= 0; i--)
		EXACT(pwrite(fd, buf, 4096, i * 4096L), 4096);
	for (int i = 0; i < 50; i += 3) {
		EXACT(pread(fd, buf, 64, i * 4096L), 64);
		EXACT(pwrite(fd, buf, 64, i * 4096L), 64);
	}
	MUST(close(fd));
	return 0;
}
