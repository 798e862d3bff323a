// SPDX-License-Identifier: BSD-3-Clause
/*
 * Another tool that was there first: uprobe_hits LIBRARY OFFSETS RESULT COMMAND... probes the offsets while the
 * command runs, in whoever maps the library, and writes how often each was met.
 */
#include <sys/wait.h>

#include "uprobe_event.h"

int main(int argc, char **argv)
{
	static struct uprobe_events e;
	pid_t child;
	int status;
	FILE *to;

	must(argc > 4, "usage");
	uprobe_events_read(&e, argv[2]);
	uprobe_events_open(&e, argv[1], 1);
	child = fork();
	must(child >= 0, "fork");
	if (child == 0) {
		execvp(argv[4], argv + 4);
		must(0, argv[4]);
	}
	must(waitpid(child, &status, 0) == child, "waitpid");
	to = fopen(argv[3], "w");
	must(to != NULL, argv[3]);
	uprobe_events_print(&e, to);
	fclose(to);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
