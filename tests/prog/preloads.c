// SPDX-License-Identifier: BSD-3-Clause
/*
 * preloads print: the value of LD_PRELOAD, or "none".
 * preloads HOW PROGRAM: execute `PROGRAM print` by the call HOW, from a child where HOW begins with "v:"
 * (vfork).
 */
#include "prog.h"

#include <spawn.h>

extern char **environ;

static int print(void)
{
	const char *list = getenv("LD_PRELOAD");

	printf("%s\n", list ? list : "none");
	return 0;
}

static int wait_for(pid_t pid)
{
	int status;

	EXACT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

static int run(const char *how, char *path)
{
	char *argv[] = {path, (char *)"print", NULL};
	pid_t pid;

	if (!strcmp(how, "execve"))
		execve(path, argv, environ);
	else if (!strcmp(how, "execv"))
		execv(path, argv);
	else if (!strcmp(how, "execvp"))
		execvp(path, argv);
	else if (!strcmp(how, "execvpe"))
		execvpe(path, argv, environ);
	else if (!strcmp(how, "execl"))
		execl(path, path, "print", (char *)NULL);
	else if (!strcmp(how, "execlp"))
		execlp(path, path, "print", (char *)NULL);
	else if (!strcmp(how, "execle"))
		execle(path, path, "print", (char *)NULL, environ);
	else if (!strcmp(how, "fexecve"))
		fexecve(open(path, O_PATH | O_CLOEXEC), argv, environ);
	else if (!strcmp(how, "posix_spawn"))
		return posix_spawn(&pid, path, NULL, NULL, argv, environ) ? 8 : wait_for(pid);
	else if (!strcmp(how, "posix_spawnp"))
		return posix_spawnp(&pid, path, NULL, NULL, argv, environ) ? 8 : wait_for(pid);
	perror(how);
	return 7;
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc >= 2 && !strcmp(argv[argc - 1], "print"))
		return print(); /* also as the interpreter of a script */
	if (argc != 3)
		return 2;
	if (strncmp(argv[1], "v:", 2))
		return run(argv[1], argv[2]);
	pid = vfork();
	if (pid == 0)
		_exit(run(argv[1] + 2, argv[2]));
	return wait_for(pid);
}
