// SPDX-License-Identifier: BSD-3-Clause
/*
 * Connection to the service, with a deadline (CLOCK_MONOTONIC, ms) for everything. Must not know what requests
 * mean.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/link/installed.h"
#include "util/link/service_link.h"

#define RETRY_MS 10

int scribe_request_add(struct scribe_request *r, const char *key, const char *value, struct scribe_err *err)
{
	size_t capacity = sizeof(r->text) - r->bytes;
	int n;

	/* Requests are lines: a newline in a value would add another key. */
	if (strchr(value, '\n') || strchr(key, '\n'))
		return scribe_err_set(err, -EINVAL, "%s: a newline is not possible here", key);
	n = snprintf(r->text + r->bytes, capacity, "%s=%s\n", key, value);
	if (n < 0 || (size_t)n >= capacity)
		return scribe_err_set(err, -E2BIG, "the options are too long together");
	r->bytes += (size_t)n;
	return 0;
}

const char *scribe_job_dir(void)
{
	const char *dir = getenv(SCRIBE_ENV_DIR);

	return dir && dir[0] ? dir : SCRIBE_SERVICE_DIR;
}

static int check_peer(int sock, const char *path, struct scribe_err *err)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	/* Replies are trusted, so the server must be root or the caller's own user. */
	if (cred.uid != 0 && cred.uid != geteuid())
		return scribe_err_set(err, -EPERM, "%s: served by user %u, not by root", path, (unsigned)cred.uid);
	return 0;
}

int scribe_daemon_connect(const char *path, int64_t deadline_ms, struct scribe_err *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int sock, rc;

	if (snprintf(to.sun_path, sizeof(to.sun_path), "%s", path) >= (int)sizeof(to.sun_path))
		return scribe_err_set(err, -ENAMETOOLONG, "%.200s: too long for a socket's name", path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return scribe_err_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	rc = scribe_msg_connect(sock, (const struct sockaddr *)&to, sizeof(to), deadline_ms);
	if (rc == -EAGAIN)
		rc = scribe_err_set(err, -ETIMEDOUT, "the daemon at %.*s takes no connection: it is stopped or hangs",
				    (int)(strrchr(path, '/') ? strrchr(path, '/') - path : 0), path);
	/* ECONNREFUSED: a daemon that has exited left its socket file. */
	else if (rc < 0)
		rc = scribe_err_set(err, rc == -ECONNREFUSED ? -ENOENT : rc, "no daemon at %s: %s", to.sun_path,
				    strerror(-rc));
	else
		rc = check_peer(sock, to.sun_path, err);
	if (rc < 0) {
		close(sock);
		return rc;
	}
	return sock;
}

int scribe_job_connect(int64_t deadline_ms, struct scribe_err *err)
{
	char path[SCRIBE_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	return scribe_daemon_connect(path, deadline_ms, err);
}

/* Until the starter exits; the daemon listens by then (daemonize.c). */
static int await_start(pid_t pid, int from, int64_t deadline_ms, struct scribe_err *err)
{
	char text[400] = "", rest[400];
	size_t n = 0;
	int status = 0;

	for (;;) {
		struct pollfd p = {.fd = from, .events = POLLIN};
		ssize_t got;

		int ready = poll(&p, 1, scribe_msg_left_ms(deadline_ms));

		if (ready < 0 && errno == EINTR)
			continue;
		/* Killed at the deadline, so that a prolog ends in time. */
		if (ready == 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return scribe_err_set(err, -ETIMEDOUT, "the daemon is not ready in time");
		}
		/* Text beyond the buffer is dropped. */
		got = n < sizeof(text) - 1 ? read(from, text + n, sizeof(text) - 1 - n)
					   : read(from, rest, sizeof(rest));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += n < sizeof(text) - 1 ? (size_t)got : 0;
	}
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	if (waitpid(pid, &status, 0) < 0 || status)
		return scribe_err_set(err, -EIO, "the daemon did not start: %s",
				      !strncmp(text, "ioscribed: ", 11) ? text + 11 : text);
	return 0;
}

/* Outside of its systemd unit the daemon would lack the sandbox. */
static bool belongs_to_unit(void)
{
	static const char *const units[] = {
		"/etc/systemd/system/ioscribed.socket", "/run/systemd/system/ioscribed.socket",
		"/usr/local/lib/systemd/system/ioscribed.socket", "/usr/lib/systemd/system/ioscribed.socket",
		"/lib/systemd/system/ioscribed.socket"};

	if (strcmp(scribe_job_dir(), SCRIBE_SERVICE_DIR) || access("/run/systemd/system", F_OK) < 0)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (access(units[i], F_OK) == 0)
			return true;
	return false;
}

int scribe_job_start(const char *config, bool stay, int64_t deadline_ms, struct scribe_err *err)
{
	char path[PATH_MAX], *argv[8];
	int pair[2], n = 0, rc;
	pid_t pid;

	if (geteuid() != 0)
		return scribe_err_set(err, -EPERM, "no daemon at %s, and only root can start one", scribe_job_dir());
	if (belongs_to_unit())
		return scribe_err_set(err, -EPERM,
				      "no daemon at %s, where it is the unit ioscribed: systemctl enable --now "
				      "ioscribed",
				      scribe_job_dir());
	if (scribe_installed_daemon(path, sizeof(path)) < 0)
		return scribe_err_set(err, -ENOENT, "ioscribed not found beside this program or in its sbin");
	argv[n++] = path;
	argv[n++] = (char *)(uintptr_t) "--service";
	if (stay)
		argv[n++] = (char *)(uintptr_t) "--stay";
	if (config) {
		argv[n++] = (char *)(uintptr_t) "--config";
		argv[n++] = (char *)(uintptr_t)config;
	}
	argv[n] = NULL;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return scribe_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(pair[1], 2);
		unsetenv("NOTIFY_SOCKET");
		unsetenv("LISTEN_FDS");
		execv(path, argv);
		_exit(127);
	}
	close(pair[1]);
	rc = pid < 0 ? scribe_err_set(err, -EAGAIN, "cannot fork: %s", strerror(errno))
		     : await_start(pid, pair[0], deadline_ms, err);
	close(pair[0]);
	return rc;
}

bool scribe_job_is_loading(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SCRIBE_SERVICE_LOADING, scribe_job_dir());
	/* A file marks this state, because a daemon that loads its programs does not reply. */
	return access(path, F_OK) == 0;
}

int scribe_job_receive(int sock, void *packet, int64_t deadline_ms, struct scribe_err *err)
{
	const struct scribe_msg_header *h = packet;
	ssize_t n = scribe_msg_recv(sock, packet, NULL, scribe_msg_left_ms(deadline_ms), err);

	if (n == -ETIMEDOUT)
		return scribe_err_set(err, (int)n,
				      scribe_job_is_loading()
					      ? "the daemon at %s is loading its programs: it does "
						"what it was asked when it has them"
					      : "the daemon at %s does not answer: it is stopped, hangs, "
						"or is busy",
				      scribe_job_dir());
	if (n < 0)
		return err->text[0] ? (int)n : scribe_err_set(err, (int)n, "%s", strerror((int)-n));
	if (n == 0)
		return scribe_err_set(err, -EPIPE, "the daemon has disconnected");
	if (h->type == SCRIBE_MSG_ERROR)
		return scribe_err_set(err, -EIO, "%.*s", (int)h->len, (const char *)(h + 1));
	return h->type;
}
