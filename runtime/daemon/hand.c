/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The questions asked of a hand, and the process that makes hands. Must not
 * know what the files hold.
 */
#include "runtime/daemon/hand.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/daemon/confine.h"
#include "runtime/daemon/hand_work.h"
#include "runtime/daemon/libs_search.h"
#include "uprobes/study.h"

#define SLICES   8 /* of a time waited for */
#define QUICK_MS 2000
#define END_MS   3000

static struct {
	pid_t pid;
	int sock;
	bool hung; /* one that it has made has not answered in time */
} maker = {.pid = -1, .sock = -1};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* ---- making hands ---- */

/* Fork a hand; its socket is returned. */
static int fork_hand(const struct scribe_hand_wanted *who)
{
	int pair[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		scribe_hand_serve(pair[1], who);
	rc = pid < 0 ? -errno : pair[0];
	if (pid < 0)
		close(pair[0]);
	close(pair[1]);
	return rc;
}

static bool children_left(void)
{
	return waitpid(-1, NULL, WNOHANG) == 0;
}

/* Hands end when they are hung up; those that cannot end when this process does. */
static void end_of_maker(void)
{
	for (int i = 0; i < 100 && children_left(); i++)
		usleep(10000);
	_exit(0);
}

static void make_hands(int sock, bool for_run)
{
	struct scribe_hand_wanted who;
	struct scribe_err err;
	const int only = 3;
	int given, rc = scribe_hand_alone(sock);

	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_NAME, "ioscribed-maker");
	if (rc == 0 && chdir("/") < 0)
		rc = -errno;
	if (rc == 0)
		rc = scribe_confine(for_run ? SCRIBE_PART_RUN_MAKER : SCRIBE_PART_MAKER, &err);
	if (scribe_hand_send(only, &rc, sizeof(rc), -1) < 0 || rc < 0)
		_exit(1);
	for (;;) {
		struct pollfd p = {.fd = only, .events = POLLIN};

		while (poll(&p, 1, 1000) <= 0)
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		if (scribe_hand_recv(only, &who, sizeof(who), &given, 0) < 0)
			end_of_maker();
		if (given >= 0)
			close(given);
		who.user[sizeof(who.user) - 1] = 0;
		rc = fork_hand(&who);
		given = rc;
		if (rc > 0)
			rc = 0;
		if (scribe_hand_send(only, &rc, sizeof(rc), given) < 0)
			end_of_maker();
		if (given >= 0)
			close(given);
	}
}

/* One answer within `ms`; a descriptor in ret_fd. */
static int receive(int sock, void *data, size_t bytes, int *ret_fd, int ms)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int n = 0;

	/* a machine that stood still, hand and all, takes one slice of the time, not all of it */
	for (int i = 0; i < SLICES && n <= 0; i++) {
		n = poll(&p, 1, (ms + SLICES - 1) / SLICES);
		if (n < 0 && errno != EINTR)
			break;
	}
	if (n <= 0)
		return -ETIMEDOUT;
	return scribe_hand_recv(sock, data, bytes, ret_fd, 0);
}

int scribe_hands_open(bool for_run, struct scribe_err *err)
{
	int pair[2], rc, answered, given;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return scribe_err_set(err, -errno, "cannot make a socket pair: %s", strerror(errno));
	maker.pid = fork();
	if (maker.pid == 0)
		make_hands(pair[1], for_run);
	rc = maker.pid < 0 ? -errno : 0;
	close(pair[1]);
	maker.sock = pair[0];
	if (rc == 0)
		rc = receive(maker.sock, &answered, sizeof(answered), &given, 10 * QUICK_MS);
	if (rc == 0)
		rc = answered;
	if (rc == 0)
		return 0;
	scribe_hands_close();
	return scribe_err_set(err, rc, "cannot start the process that makes hands: %s", strerror(-rc));
}

void scribe_hands_close(void)
{
	if (maker.sock >= 0)
		close(maker.sock);
	for (int i = 0; maker.pid > 0 && i < END_MS / 5; i++) {
		if (waitpid(maker.pid, NULL, WNOHANG) != 0)
			break;
		usleep(5000);
	}
	maker.sock = -1;
	maker.pid = -1;
}

void scribe_hands_end_hung(void)
{
	if (maker.hung)
		scribe_hands_close();
}

int scribe_hand_start(struct scribe_hand *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err)
{
	struct scribe_hand_wanted who = {.uid = uid, .gid = gid};
	int rc = 0, fd = -1, given;

	*h = (struct scribe_hand){.pid = -1, .sock = -1};
	snprintf(who.user, sizeof(who.user), "%s", user);
	if (maker.sock < 0) {
		fd = fork_hand(&who);
		rc = fd < 0 ? fd : 0;
	} else if (scribe_hand_send(maker.sock, &who, sizeof(who), -1) < 0 ||
		   receive(maker.sock, &rc, sizeof(rc), &fd, QUICK_MS) < 0) {
		rc = -EIO;
	}
	if (rc < 0 || fd < 0)
		return scribe_err_set(err, rc < 0 ? rc : -EIO, "cannot start a hand: %s",
				      strerror(rc < 0 ? -rc : EIO));
	h->sock = fd;
	rc = receive(fd, &h->pid, sizeof(h->pid), &given, QUICK_MS);
	if (rc == 0 && h->pid < 0)
		rc = h->pid;
	if (rc < 0) {
		close(h->sock);
		*h = (struct scribe_hand){.pid = -1, .sock = -1};
		return scribe_err_set(err, rc, "cannot become user %u: %s%s", (unsigned)uid, strerror(-rc),
				      rc == -EPERM ? ": CAP_SETUID and CAP_SETGID are needed" : "");
	}
	return 0;
}

void scribe_hand_stop(struct scribe_hand *h)
{
	if (h->sock >= 0)
		close(h->sock);
	/* without a maker it is our child */
	for (int i = 0; maker.sock < 0 && h->pid > 0 && i < 200; i++) {
		if (waitpid(h->pid, NULL, WNOHANG) != 0)
			break;
		usleep(5000);
	}
	*h = (struct scribe_hand){.pid = -1, .sock = -1};
}

/* ---- questions ---- */

static void give_up(struct scribe_hand *h)
{
	close(h->sock); /* an answer that comes late must not meet the next question */
	h->sock = -1;
	h->asked = h->stashed = false;
}

/* `op_waits`: its answer is waited for here, one that is kept stays. */
static int ask(struct scribe_hand *h, const struct scribe_hand_question *q, int fd, uint32_t deadline_ms,
	       bool op_waits)
{
	int rc;

	if (h->sock < 0)
		return -EPIPE;
	if (h->asked && !(h->stashed && op_waits))
		return -EBUSY;
	rc = scribe_hand_send(h->sock, q, sizeof(*q), fd);
	if (rc < 0) {
		give_up(h);
		return rc;
	}
	if (op_waits)
		return 0;
	h->asked = true;
	h->deadline_ns = now_ns() + (uint64_t)deadline_ms * 1000000;
	return 0;
}

/* The answer to a question under way is waited for and kept: another one follows. */
static int stash(struct scribe_hand *h)
{
	struct scribe_hand_answer a;
	int fd = -1, rc;

	if (h->sock < 0 || !h->asked || h->stashed)
		return 0;
	rc = receive(h->sock, &a, sizeof(a), &fd, QUICK_MS);
	if (fd >= 0)
		close(fd);
	h->stash = a.rc;
	h->stashed = rc == 0;
	return rc < 0 ? -EBUSY : 0;
}

/* Ask and wait; a passed descriptor is returned, else 0 or a negative errno. */
static int ask_now(struct scribe_hand *h, const struct scribe_hand_question *q, int given, int ms)
{
	struct scribe_hand_answer a = {0};
	int fd = -1, rc = stash(h);

	if (rc == 0)
		rc = ask(h, q, given, 0, true);
	if (rc < 0)
		return rc;
	rc = receive(h->sock, &a, sizeof(a), &fd, ms);
	if (rc < 0)
		give_up(h);
	else
		rc = a.rc == 0 && fd >= 0 ? fd : a.rc;
	return rc;
}

/* `own`: of MKDIRS. */
static int ask_about(struct scribe_hand *h, int op, const char *path, unsigned own, const char *what,
		     struct scribe_err *err)
{
	static struct scribe_hand_question q;
	int rc;

	memset(&q, 0, sizeof(q));
	q.op = op;
	q.prefix = own;
	if (strlen(path) >= sizeof(q.path))
		return scribe_err_set(err, -ENAMETOOLONG, "cannot %s %s: name too long", what, path);
	strcpy(q.path, path);
	rc = ask_now(h, &q, -1, QUICK_MS);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot %s %s: %s", what, path, strerror(-rc));
	return rc;
}

int scribe_hand_mkdirs(struct scribe_hand *h, const char *path, unsigned own, struct scribe_err *err)
{
	return ask_about(h, SCRIBE_HAND_MKDIRS, path, own, "make the directories of", err);
}

int scribe_hand_create(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, SCRIBE_HAND_CREATE, path, 0, "create", err);
}

int scribe_hand_remove(struct scribe_hand *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, SCRIBE_HAND_REMOVE, path, 0, "remove", err);
}

int scribe_hand_look(struct scribe_hand *h, int root_fd, const char *path, bool nofollow, int ms)
{
	static struct scribe_hand_question q;

	q.op = SCRIBE_HAND_LOOK;
	q.replace = !nofollow;
	if (strlen(path) >= sizeof(q.path))
		return -ENAMETOOLONG;
	strcpy(q.path, path);
	return ask_now(h, &q, root_fd, ms);
}

int scribe_hand_study(struct scribe_hand *h, int fd, bool calls, struct scribe_study *ret, int ms)
{
	static struct scribe_hand_question q;
	int rc, given;

	q.op = SCRIBE_HAND_STUDY;
	q.replace = calls;
	rc = ask_now(h, &q, fd, ms);
	if (rc < 0)
		return rc;
	rc = receive(h->sock, ret, sizeof(*ret), &given, ms);
	if (rc < 0)
		give_up(h);
	else if (given >= 0)
		close(given);
	return rc;
}

int scribe_hand_peek(struct scribe_hand *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms)
{
	static struct scribe_hand_question q;
	int rc;

	q.op = SCRIBE_HAND_PEEK;
	q.prefix = (unsigned)bytes;
	q.where[0] = (uint64_t)pid;
	q.where[1] = at;
	rc = ask_now(h, &q, -1, ms);
	if (rc < 0)
		return rc;
	/* the value itself is a message of its own: any number may stand there */
	rc = receive(h->sock, ret_value, sizeof(*ret_value), &(int){-1}, ms);
	if (rc < 0)
		give_up(h);
	return rc;
}

int scribe_hand_search(struct scribe_hand *h, const struct scribe_search *s)
{
	static struct scribe_hand_question q;

	_Static_assert(sizeof(*s) <= sizeof(q.note), "a search is part of a question");
	q.op = SCRIBE_HAND_SEARCH;
	memcpy(q.note, s, sizeof(*s));
	return ask(h, &q, -1, 0, true);
}

int scribe_hand_found(struct scribe_hand *h, struct scribe_hand_found *ret, int *ret_fd, int ms)
{
	int rc = h->sock < 0 ? -EPIPE : receive(h->sock, ret, sizeof(*ret), ret_fd, ms);

	if (rc < 0 && h->sock >= 0)
		give_up(h);
	ret->label[sizeof(ret->label) - 1] = 0;
	return rc;
}

int scribe_hand_root(struct scribe_hand *h, int root_fd)
{
	static const struct scribe_hand_question q = {.op = SCRIBE_HAND_ROOT};

	return ask_now(h, &q, root_fd, QUICK_MS);
}

int scribe_hand_put(struct scribe_hand *h, const struct scribe_hand_put *put, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;
	const char *note = put->note ? put->note : "", *drop = put->drop ? put->drop : "";

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HAND_PUT;
	q.replace = put->replace;
	q.mkdirs = put->mkdirs;
	q.prefix = put->own;
	if (strlen(put->partial) >= sizeof(q.path) || strlen(put->to) >= sizeof(q.to) ||
	    strlen(note) >= sizeof(q.note) || strlen(drop) >= sizeof(q.drop))
		return -ENAMETOOLONG;
	strcpy(q.path, put->partial);
	strcpy(q.to, put->to);
	strcpy(q.note, note);
	strcpy(q.drop, drop);
	return ask(h, &q, put->fd, deadline_ms, false);
}

int scribe_hand_fetch(struct scribe_hand *h, const char *path, int fd, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HAND_FETCH;
	if (strlen(path) >= sizeof(q.path))
		return -ENAMETOOLONG;
	strcpy(q.path, path);
	return ask(h, &q, fd, deadline_ms, false);
}

int scribe_hand_days(struct scribe_hand *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HAND_DAYS;
	q.prefix = (unsigned)log_dir_bytes;
	if (strlen(path) >= sizeof(q.path))
		return -ENAMETOOLONG;
	strcpy(q.path, path);
	return ask(h, &q, -1, deadline_ms, false);
}

int scribe_hand_ready(struct scribe_hand *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	memset(&q, 0, sizeof(q));
	q.op = remove ? SCRIBE_HAND_REMOVE : SCRIBE_HAND_MKDIRS;
	q.prefix = own;
	if (strlen(path) >= sizeof(q.path))
		return -ENAMETOOLONG;
	strcpy(q.path, path);
	return ask(h, &q, -1, deadline_ms, false);
}

int scribe_hand_attributes(struct scribe_hand *h, const char *attribute, int fd, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HAND_ATTRIBUTES;
	snprintf(q.path, sizeof(q.path), "%s", attribute);
	return ask(h, &q, fd, deadline_ms, false);
}

int scribe_hand_merge(struct scribe_hand *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HAND_MERGE;
	q.replace = incomplete;
	if (strlen(dir) >= sizeof(q.path))
		return -ENAMETOOLONG;
	strcpy(q.path, dir);
	return ask(h, &q, fd, deadline_ms, false);
}

int scribe_hand_judge(struct scribe_hand *h, int fd, bool anew, uint32_t deadline_ms)
{
	static struct scribe_hand_question q;

	q.op = SCRIBE_HAND_JUDGE;
	q.replace = anew;
	return ask(h, &q, fd, deadline_ms, false);
}

bool scribe_hand_answer(struct scribe_hand *h, struct scribe_hand_answer *ret)
{
	int rc, fd = -1;

	memset(ret, 0, sizeof(*ret));
	if (!h->asked) {
		ret->rc = -EPIPE;
		return true;
	}
	if (h->stashed) {
		ret->rc = h->stash;
		h->asked = h->stashed = false;
		return true;
	}
	rc = scribe_hand_recv(h->sock, ret, sizeof(*ret), &fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	if (rc == -EAGAIN && now_ns() < h->deadline_ns)
		return false;
	if (rc < 0)
		give_up(h);
	h->asked = false;
	if (rc < 0)
		*ret = (struct scribe_hand_answer){.rc = rc == -EAGAIN ? -ETIMEDOUT : rc};
	maker.hung = maker.hung || rc == -EAGAIN;
	return true;
}

bool scribe_hand_answered(struct scribe_hand *h, int *ret_rc)
{
	struct scribe_hand_answer a;

	if (!scribe_hand_answer(h, &a))
		return false;
	*ret_rc = a.rc;
	return true;
}
