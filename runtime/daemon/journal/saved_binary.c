/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the pinning daemon's program and configuration, beside the journals. Must not know
 * jobs, maps or journals.
 */
#include "runtime/daemon/journal/saved_binary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "program"
#define CONFIG  "config"
#define NAP_NS  10000000 /* between checks for the end of the child */

static int path_in(const char *dir, const char *name, char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/state/%s", dir, name);

	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

/* -EIO: the file was truncated meanwhile. */
static int copy(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return -errno;
	while (at < st.st_size) {
		ssize_t n = sendfile(to, from, &at, (size_t)(st.st_size - at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

/* Copies all or nothing; from_path NULL: an empty file. */
static int save(const char *from_path, const char *path)
{
	char made[200];
	int from = from_path ? open(from_path, O_RDONLY | O_CLOEXEC) : -1, to, rc = from_path && from < 0 ? -errno : 0;

	snprintf(made, sizeof(made), "%s.new", path);
	unlink(made);
	to = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
	if (rc == 0)
		rc = to < 0 ? -errno : from_path ? copy(from, to) : 0;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	/* rename() also replaces an older copy that is being executed. */
	if (rc == 0 && rename(made, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(made);
	return rc;
}

void scribe_build_keep(const char *dir, const char *config)
{
	char path[160];
	int rc = path_in(dir, PROGRAM, path, sizeof(path));

	if (rc == 0)
		rc = save("/proc/self/exe", path);
	if (rc == 0)
		rc = path_in(dir, CONFIG, path, sizeof(path));
	if (rc == 0)
		rc = save(config, path);
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s: %s: another build could not have this one finish its jobs\n", path,
			strerror(-rc));
}

void scribe_build_forget(const char *dir)
{
	char path[160];

	if (path_in(dir, PROGRAM, path, sizeof(path)) == 0)
		unlink(path);
	if (path_in(dir, CONFIG, path, sizeof(path)) == 0)
		unlink(path);
}

/* In memory, because the directory may be mounted noexec. */
static int open_program(const char *dir, struct scribe_err *err)
{
	char path[160];
	int from, to = -1, rc = path_in(dir, PROGRAM, path, sizeof(path));

	from = rc == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (from < 0)
		return scribe_err_set(err, rc ? rc : -errno, "%s: %s", path, strerror(rc ? -rc : errno));
	to = memfd_create("ioscribed", MFD_CLOEXEC);
	rc = to < 0 ? -errno : copy(from, to);
	close(from);
	if (rc == 0)
		return to;
	if (to >= 0)
		close(to);
	return scribe_err_set(err, rc, "%s: cannot be read: %s", path, strerror(-rc));
}

/* In the child. */
static void become(int program, const char *dir, int lock)
{
	char config[160], number[16],
		*argv[] = {"ioscribed", "--finish", "--dir", (char *)(uintptr_t)dir, "--config", config,
			   "--fd",      number,     NULL};
	extern char **environ;

	/* The service stays locked while the child runs. */
	if (path_in(dir, CONFIG, config, sizeof(config)) < 0 || fcntl(lock, F_SETFD, 0) < 0)
		_exit(126);
	snprintf(number, sizeof(number), "%d", lock);
	/* These are meant for the waiting daemon. */
	unsetenv("NOTIFY_SOCKET");
	unsetenv("LISTEN_FDS");
	unsetenv("WATCHDOG_USEC");
	fexecve(program, argv, environ);
	_exit(127);
}

/* Its wait status; -ETIMEDOUT: it was killed. */
static int await(pid_t pid)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	int status;

	for (long i = 0; i < SCRIBE_BUILD_FINISH_S * (1000000000L / NAP_NS); i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		nanosleep(&nap, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -ETIMEDOUT;
}

int scribe_build_finish(const char *dir, int lock, struct scribe_err *err)
{
	int program = open_program(dir, err), status;
	pid_t pid;

	if (program < 0)
		return err->code;
	pid = fork();
	if (pid == 0)
		become(program, dir, lock);
	close(program);
	if (pid < 0)
		return scribe_err_set(err, -errno, "cannot fork: %s", strerror(errno));
	status = await(pid);
	if (status < 0)
		return scribe_err_set(err, status, "it was not done in %d s", SCRIBE_BUILD_FINISH_S);
	if (status)
		return scribe_err_set(err, -EIO, WIFEXITED(status) ? "it ended with code %d" : "it ended by signal %d",
				      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}
