// SPDX-License-Identifier: BSD-3-Clause
/*
 * Starts ioscribe-publish with another identity, for `ioscribe run` and `ioscribe job begin` (exits before it). A pipe
 * reports the subscription. Must not know what is sent.
 */
#include "util/publish/publisher.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/tool/command.h"
#include "util/tool/libexec.h"

#define SYSTEM_LOG "/dev/log"
#define DATA_MOST  (512ull << 20) /* outside of the job's limits */
#define NICE       10

static int take_identity(const struct scribe_publisher *p)
{
	if (!p->drop)
		return 0;
	if ((p->user && p->user[0] ? initgroups(p->user, p->gid) : setgroups(0, NULL)) < 0 ||
	    setresgid(p->gid, p->gid, p->gid) < 0 || setresuid(p->uid, p->uid, p->uid) < 0)
		return -errno;
	return 0;
}

static void move(int fd, int to)
{
	if (fd < 0 || fd == to)
		return;
	dup2(fd, to);
	close(fd);
}

static void say_to_system_log(void)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = SYSTEM_LOG};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	/* Each line on standard error becomes a datagram to the system log, dropped when that is full. */
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		fd = -1;
	}
	move(fd >= 0 ? fd : open("/dev/null", O_RDWR), STDERR_FILENO);
}

static void keep_own_variables(void)
{
	static const char *const names[] = {"PATH", "LD_LIBRARY_PATH", "DARSHAN_LDMS_STREAM", "IOSCRIBE_KAFKA_CONFIG"};
	/* A prolog's environment is root's, and the user can read this process's environment. */
	const char *values[sizeof(names) / sizeof(names[0])];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		values[i] = getenv(names[i]);
	environ = NULL; /* the strings stay valid */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (values[i])
			setenv(names[i], values[i], 1);
}

static void leave_caller(void)
{
	const struct rlimit data = {DATA_MOST, DATA_MOST};

	setsid();
	keep_own_variables();
	say_to_system_log();
	setrlimit(RLIMIT_DATA, &data);
	if (setpriority(PRIO_PROCESS, 0, NICE) < 0 || chdir("/") < 0)
		_exit(SCRIBE_EXIT_FAILED);
}

static _Noreturn void become(const struct scribe_publisher *p, int notify)
{
	char fd[24];
	char *argv[] = {"ioscribe publish",
			(char *)(uintptr_t)p->key,
			(char *)(uintptr_t)p->value,
			"--notify",
			fd,
			"--",
			(char *)(uintptr_t)p->sink,
			NULL};

	move(open("/dev/null", O_RDONLY), STDIN_FILENO);
	move(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	if (p->on_its_own) {
		leave_caller();
		/* Close the prolog's files and pipes, which would keep it waiting. */
		notify = dup2(notify, 3);
		close_range(4, ~0u, 0);
	}
	setenv(SCRIBE_ENV_SOCKET, p->socket, 1);
	snprintf(fd, sizeof(fd), "%d", notify);
	if (take_identity(p) < 0)
		_exit(SCRIBE_EXIT_FAILED);
	_exit(scribe_libexec_run("ioscribe-publish", "sends operations to other systems", argv));
}

/* False: it exited before, or the time is up. */
static bool has_subscribed(int notify, int wait_ms)
{
	struct pollfd p = {.fd = notify, .events = POLLIN};
	const int64_t until = scribe_msg_now_ms() + wait_ms;
	char byte;

	while (poll(&p, 1, scribe_msg_left_ms(until)) < 0 && errno == EINTR)
		;
	return (p.revents & POLLIN) && read(notify, &byte, 1) == 1;
}

int scribe_publisher_start(const struct scribe_publisher *p, int wait_ms, pid_t *ret_pid, struct scribe_err *err)
{
	bool subscribed;
	int notify[2];

	*ret_pid = 0;
	if (pipe(notify) < 0)
		return scribe_err_set(err, -errno, "cannot make a pipe for a publisher: %s", strerror(errno));
	fcntl(notify[0], F_SETFD, FD_CLOEXEC);
	*ret_pid = fork();
	if (*ret_pid == 0)
		become(p, notify[1]);
	close(notify[1]);
	subscribed = *ret_pid > 0 && has_subscribed(notify[0], wait_ms);
	close(notify[0]);
	if (*ret_pid < 0)
		*ret_pid = 0;
	return subscribed ? 0 : scribe_err_set(err, -EAGAIN, "--stream %.200s has not begun", p->sink);
}
