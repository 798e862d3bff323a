// SPDX-License-Identifier: BSD-3-Clause
/* Other threads, processes, programs, roots and mounts. */
#include "tests/oracle/random/world.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* Ends in a child whose clock is an hour ahead (CLOCK_MONOTONIC of another time namespace); what waits for it
 * ends, too. */
static void go_ahead(void)
{
	static const char offset[] = "monotonic 3600 0\n";
	int status, fd;
	pid_t pid;

	MUST(unshare(CLONE_NEWTIME));
	fd = (int)MUST(open("/proc/self/timens_offsets", O_WRONLY));
	MUST(write(fd, offset, sizeof(offset) - 1));
	close(fd);
	pid = (pid_t)MUST(fork());
	if (pid == 0)
		return;
	MUST(waitpid(pid, &status, 0));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
}

bool do_fork(void)
{
	unsigned n = 1 + below(6), ahead = below(3) == 0;
	int status;
	pid_t pid;

	say("\tif ((pid = MUST(fork())) == 0) {%s", ahead ? " /* with a clock that is ahead */" : "");
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		memset(known, -1, sizeof(known));
		if (ahead)
			go_ahead();
		some_operations(n);
		say("\t_exit(0);\n\t}");
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0));
	if (status)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
	say("\tMUST(waitpid(pid, NULL, 0));");
	/* what the child has opened is not ours */
	return true;
}

static void *in_thread(void *unused)
{
	(void)unused;
	some_operations(1);
	return NULL;
}

bool do_thread(void)
{
	pthread_t thread;

	say("\t/* the next one in a thread of its own */");
	if (pthread_create(&thread, NULL, in_thread, NULL))
		_exit(3);
	pthread_join(thread, NULL);
	return true;
}

static void in_handler(int unused)
{
	(void)unused;
	some_operations(2);
}

/* The next two are made by a handler of a signal. */
bool do_signal(void)
{
	struct sigaction act = {.sa_handler = in_handler, .sa_flags = SA_NODEFER};

	say("\t/* the next two in a signal's handler */");
	MUST(sigaction(SIGUSR1, &act, NULL));
	MUST(raise(SIGUSR1));
	return true;
}

/* A folder in the place of another, in mounts of the child's own. */
bool do_mount(void)
{
	int on, of, file = (int)below(FILES), inode, fd;
	char from[32], to[32], text[64];
	struct stat st;
	pid_t pid;

	if (!any_folder(&of) || !any_folder(&on) || of == on || w->file[of][file] < 0)
		return false;
	snprintf(from, sizeof(from), "d%d", of);
	snprintf(to, sizeof(to), "d%d", on);
	snprintf(text, sizeof(text), "d%d/f%d", on, file);
	say("\tmounted(\"%s\", \"%s\", \"%s\");", from, to, text);
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		MUST(unshare(CLONE_NEWNS));
		MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		MUST(mount(from, to, NULL, MS_BIND, NULL));
		fd = (int)MUST(open(text, O_RDWR));
		MUST(pwrite(fd, buffer, 100, 0));
		MUST(stat(text, &st));
		MUST(close(fd));
		_exit(0);
	}
	MUST(waitpid(pid, &fd, 0));
	if (fd)
		_exit(6);
	inode = w->file[of][file];
	if (w->inode[inode].size < 100)
		w->inode[inode].size = 100;
	add(file_name(on, file), POSIX_OPENS, 1);
	moved(file_name(on, file), true, 0, 100);
	add(file_name(on, file), POSIX_STATS, 1);
	add(file_name(on, file), POSIX_EXT_CLOSES, 1);
	return true;
}

/* Another root: names are what the program saw. */
bool do_root(void)
{
	int folder, file = (int)below(FILES), fd, inode, name;
	char text[32];
	struct stat st;
	pid_t pid;

	if (!any_folder(&folder) || w->file[folder][file] < 0)
		return false;
	snprintf(text, sizeof(text), "/d%d/f%d", folder, file);
	say("\trooted(\"%s\");", text);
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		MUST(chroot(base));
		MUST(chdir("/"));
		fd = (int)MUST(open(text, O_WRONLY));
		MUST(pwrite(fd, buffer, 10, 0));
		MUST(stat(text, &st));
		MUST(close(fd));
		_exit(0);
	}
	MUST(waitpid(pid, &fd, 0));
	if (fd)
		_exit(6);
	inode = w->file[folder][file];
	if (w->inode[inode].size < 10)
		w->inode[inode].size = 10;
	name = IN_ROOT + file_name(folder, file);
	add(name, POSIX_OPENS, 1);
	moved(name, true, 0, 10);
	add(name, POSIX_STATS, 1);
	add(name, POSIX_EXT_CLOSES, 1);
	return true;
}

/* The same program again, with the descriptors that survive it. */
bool do_exec(bool may)
{
	char room[16];

	if (!may)
		return false;
	for (int i = 0; i < FDS; i++) {
		w->fd[i] = from_fd[i] >= 0 && !on_exec[i] ? from_fd[i] : -1;
	}
	memcpy(w->known, known, sizeof(known));
	say("\t/* here the program executes itself */");
	for (int i = 0; i < FDS; i++)
		if (from_fd[i] >= 0 && on_exec[i])
			say("\tclosed_by_exec(%d);", i);
	snprintf(room, sizeof(room), "%d", memory);
	setenv("RANDOM_MEMORY", room, 1);
	execv("/proc/self/exe", args);
	_exit(3);
}
