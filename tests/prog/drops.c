/* SPDX-License-Identifier: BSD-3-Clause */
/* link: static */
/*
 * Writes a file, and goes on as the plain user it was started by:
 *   drops write FILE
 *   drops exec FILE PROGRAM ARGUMENTS...   writes, gives all rights away, executes
 *   drops fork FILE PROGRAM ARGUMENTS...   the same with the rights it has, as a child
 */
#include "prog.h"

static void write_file(const char *path)
{
	int fd = prog_open(path, O_CREAT | O_TRUNC | O_WRONLY);

	EXACT(write(fd, "seven\n", 6), 6);
	MUST(close(fd));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	write_file(argv[2]);
	if (!strcmp(argv[1], "exec")) {
		MUST(setresgid(getgid(), getgid(), getgid()));
		MUST(setresuid(getuid(), getuid(), getuid()));
		MUST(execv(argv[3], argv + 3));
	}
	if (!strcmp(argv[1], "fork")) {
		pid_t pid = (pid_t)MUST(fork());

		if (pid == 0)
			MUST(execv(argv[3], argv + 3));
		prog_wait(pid);
	}
	return 0;
}
