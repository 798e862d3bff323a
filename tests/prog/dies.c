// SPDX-License-Identifier: BSD-3-Clause
// Writes 100 times 1000 bytes, then ends in the way named; never closes.
//   dies exit N | _exit | raw | abort | kill | segv | hang
#include "prog.h"

#include <signal.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char buf[1000] = {0};
	int fd = prog_open("half", O_RDWR | O_CREAT);

	for (int i = 0; i < 100; i++)
		EXACT(write(fd, buf, sizeof(buf)), sizeof(buf));
	EXACT(pread(fd, buf, 500, 0), 500);
	if (strcmp(how, "exit") == 0)
		exit(argc > 2 ? atoi(argv[2]) : 0);
	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "raw") == 0)
		syscall(SYS_exit_group, 6);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "hang") == 0)
		for (;;)
			pause();
	return 9;
}
