// SPDX-License-Identifier: BSD-3-Clause
// vfork, posix_spawn with file actions, and clone(CLONE_FILES).
#include "prog.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>

extern char **environ;

static char stack[65536] __attribute__((aligned(64)));

static int sharer(void *arg)
{
	char buf[200] = {0};
	int fd = *(int *)arg;

	EXACT(write(fd, buf, 200), 200);
	fd = prog_open("by_clone", O_WRONLY | O_CREAT);
	EXACT(write(fd, buf, 50), 50);
	*(int *)arg = fd; /* the parent has it too */
	_exit(0);
}

int main(int argc, char **argv)
{
	char *words[] = {argv[0], "child", NULL};
	char buf[100] = {0};
	posix_spawn_file_actions_t actions;
	int fd, shared;
	pid_t child;

	if (argc > 1) {
		EXACT(write(1, buf, 100), 100);
		fd = prog_open("by_child", O_WRONLY | O_CREAT | O_APPEND);
		EXACT(write(fd, buf, 40), 40);
		return 0;
	}
	if (posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT, 0644) ||
	    posix_spawn(&child, argv[0], &actions, NULL, words, environ))
		return 4;
	prog_wait(child);
	posix_spawn_file_actions_destroy(&actions);

	fd = prog_open("vforked", O_WRONLY | O_CREAT);
	child = vfork();
	if (child == 0) {
		dup2(fd, 1);
		execv(argv[0], words);
		_exit(9);
	}
	MUST(child);
	prog_wait(child);
	EXACT(write(fd, buf, 10), 10);

	shared = fd;
	child = (pid_t)MUST(clone(sharer, stack + sizeof(stack), CLONE_FILES | CLONE_VM | SIGCHLD, &shared));
	prog_wait(child);
	EXACT(write(shared, buf, 5), 5);
	MUST(close(shared));
	MUST(close(fd));
	return 0;
}
