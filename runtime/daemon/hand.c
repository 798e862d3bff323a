/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user-identity helper: its process, and the questions asked of it. Must
 * not know what the files hold.
 */
#include "runtime/daemon/hand.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/proto.h"

#define HAND_TIMEOUT_MS 20000

enum hand_op { HAND_MKDIRS, HAND_CREATE, HAND_OPEN, HAND_COMMIT, HAND_REMOVE };

struct question {
	int op;
	int replace;
	char path[SCRIBE_PATH_MAX];
	char to[SCRIBE_PATH_MAX];
};

static int make_dirs(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		int rc;

		*p = 0;
		rc = mkdir(path, 0755);
		if (rc < 0 && errno != EEXIST && access(path, F_OK) < 0) {
			rc = -errno;
			*p = '/';
			return rc;
		}
		*p = '/';
	}
	return 0;
}

static int commit(const struct question *q)
{
	if (chmod(q->path, 0400) < 0)
		return -errno;
	if (q->replace)
		return rename(q->path, q->to) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, q->path, AT_FDCWD, q->to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* file systems without that flag: a hard link does not replace either */
	if (link(q->path, q->to) < 0)
		return -errno;
	unlink(q->path);
	return 0;
}

static int answer(struct question *q, int *ret_fd)
{
	switch (q->op) {
	case HAND_MKDIRS:
		return make_dirs(q->path);
	case HAND_CREATE:
		*ret_fd = open(q->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		return *ret_fd < 0 ? -errno : 0;
	case HAND_OPEN:
		*ret_fd = open(q->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		return *ret_fd < 0 ? -errno : 0;
	case HAND_COMMIT:
		return commit(q);
	case HAND_REMOVE:
		return unlink(q->path) < 0 ? -errno : 0;
	default:
		return -EINVAL;
	}
}

static int send_answer(int sock, int rc, int fd)
{
	struct iovec iov = {&rc, sizeof(rc)};
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)room;

		m.msg_control = room;
		m.msg_controllen = sizeof(room);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void serve(int sock)
{
	struct question q;

	for (;;) {
		ssize_t n = recv(sock, &q, sizeof(q), 0);
		int fd = -1, rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(q))
			_exit(0);
		rc = answer(&q, &fd);
		if (send_answer(sock, rc, fd) < 0)
			_exit(0);
		if (fd >= 0)
			close(fd);
	}
}

static int become(uid_t uid, gid_t gid, const char *user)
{
	if (geteuid() != 0)
		return geteuid() == uid ? 0 : -EPERM;
	if (user[0] ? initgroups(user, gid) : setgroups(0, NULL))
		return -errno;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

int scribe_hand_start(struct scribe_hand *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err)
{
	int pair[2], rc;

	*h = (struct scribe_hand){.pid = -1, .sock = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return scribe_err_set(err, -errno, "cannot make a socket pair: %s", strerror(errno));
	h->pid = fork();
	if (h->pid < 0) {
		rc = -errno;
		close(pair[0]);
		close(pair[1]);
		return scribe_err_set(err, rc, "cannot fork: %s", strerror(-rc));
	}
	if (h->pid == 0) {
		int only = dup2(pair[1], 3);

		syscall(SYS_close_range, 4, ~0u, 0);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		umask(022);
		prctl(PR_SET_NAME, "ioscribed-hand");
		rc = only == 3 ? become(uid, gid, user) : -EBADF;
		if (rc == 0 && chdir("/") < 0)
			rc = -errno;
		if (send_answer(only, rc, -1) < 0 || rc < 0)
			_exit(1);
		serve(only);
	}
	close(pair[1]);
	h->sock = pair[0];
	if (recv(h->sock, &rc, sizeof(rc), 0) != (ssize_t)sizeof(rc))
		rc = -EIO;
	if (rc < 0) {
		scribe_hand_stop(h);
		return scribe_err_set(err, rc, "cannot become user %u: %s", (unsigned)uid, strerror(-rc));
	}
	return 0;
}

void scribe_hand_stop(struct scribe_hand *h)
{
	if (h->sock >= 0)
		close(h->sock);
	for (int i = 0; h->pid > 0 && i < 200; i++) {
		if (waitpid(h->pid, NULL, WNOHANG) != 0)
			break;
		if (i == 100)
			kill(h->pid, SIGKILL);
		usleep(5000);
	}
	*h = (struct scribe_hand){.pid = -1, .sock = -1};
}

/* Ask and wait; a passed descriptor is returned, else 0 or a negative errno. */
static int ask(struct scribe_hand *h, const struct question *q)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct pollfd p = {.fd = h->sock, .events = POLLIN};
	int rc = -EIO, fd = -1;
	struct iovec iov = {&rc, sizeof(rc)};
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *c;

	if (h->sock < 0)
		return -EPIPE;
	if (send(h->sock, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ||
	    poll(&p, 1, HAND_TIMEOUT_MS) <= 0 ||
	    recvmsg(h->sock, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(rc)) {
		close(h->sock); /* an answer that comes late must not meet the next question */
		h->sock = -1;
		return -ETIMEDOUT;
	}
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return rc == 0 && fd >= 0 ? fd : rc;
}

static int ask_about(struct scribe_hand *h, int op, const char *path, const char *to, int replace,
		     const char *what, struct scribe_err *err)
{
	struct question q = {.op = op, .replace = replace};
	int rc;

	if (strlen(path) >= sizeof(q.path) || (to && strlen(to) >= sizeof(q.to)))
		return scribe_err_set(err, -ENAMETOOLONG, "cannot %s %s: name too long", what, path);
	strcpy(q.path, path);
	if (to)
		strcpy(q.to, to);
	rc = ask(h, &q);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot %s %s: %s", what, to ? to : path, strerror(-rc));
	return rc;
}

int scribe_hand_mkdirs(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, HAND_MKDIRS, path, NULL, 0, "make the directories of", err);
}

int scribe_hand_create(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, HAND_CREATE, path, NULL, 0, "create", err);
}

int scribe_hand_open(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, HAND_OPEN, path, NULL, 0, "open", err);
}

int scribe_hand_commit(struct scribe_hand *h, const char *from, const char *to, int replace,
		       struct scribe_err *err)
{
	return ask_about(h, HAND_COMMIT, from, to, replace, "rename to", err);
}

int scribe_hand_remove(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, HAND_REMOVE, path, NULL, 0, "remove", err);
}
