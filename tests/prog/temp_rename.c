// SPDX-License-Identifier: BSD-3-Clause
// Write to a temporary, sync, rename over the name: the way editors save.
#include "prog.h"

#include <sys/syscall.h>

int main(void)
{
	char buf[5000] = {0};
	int fd, dir = prog_open(".", O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < 5; i++) {
		fd = prog_open("doc.new", O_WRONLY | O_CREAT | O_TRUNC);
		EXACT(write(fd, buf, 5000), 5000);
		MUST(fsync(fd));
		MUST(close(fd));
		MUST(rename("doc.new", "doc"));
		fd = prog_open("doc", O_RDONLY);
		EXACT(read(fd, buf, 5000), 5000);
		MUST(close(fd));
	}
	fd = prog_open("a", O_WRONLY | O_CREAT);
	EXACT(write(fd, "a", 1), 1);
	MUST(close(fd));
	MUST(renameat(dir, "a", dir, "b"));
	MUST(renameat2(dir, "b", dir, "doc", RENAME_EXCHANGE));
	if (renameat2(dir, "b", dir, "doc", RENAME_NOREPLACE) >= 0)
		return 4;
	/* A file without a name that gets one. */
	fd = prog_open(".", O_TMPFILE | O_RDWR);
	EXACT(write(fd, buf, 100), 100);
	MUST(close(fd));
	return 0;
}
