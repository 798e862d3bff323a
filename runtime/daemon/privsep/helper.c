/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's side of a helper. One request at a time; most answers are polled for by the event loop, some are
 * waited for up to QUICK_MS. A helper may be compromised: lengths, codes and descriptors are checked. Closing
 * the socket ends the process. Must not know what the files hold.
 */
#include "runtime/daemon/privsep/helper.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/library_search.h"
#include "uprobes/elf/analysis.h"

#define QUICK_MS 2000 /* longest wait of the event loop */
#define CODE_MAX 9999 /* errno, and logfmt/base/err.h */

/* A compromised helper could otherwise fill the daemon's descriptor table. */
static void drop(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void disconnect(struct scribe_helper *h)
{
	if (h->sock < 0)
		return;
	close(h->sock);
	h->sock = -1;
	/* The spawner kills the helper if it does not exit by itself. */
	scribe_helper_cancel(h->id);
}

int scribe_helper_start(struct scribe_helper *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err)
{
	struct scribe_helper_wanted who = {.uid = uid, .gid = gid};

	snprintf(who.user, sizeof(who.user), "%s", user);
	return scribe_helper_start_as(h, &who, err);
}

int scribe_helper_start_as(struct scribe_helper *h, const struct scribe_helper_wanted *who, struct scribe_err *err)
{
	static uint32_t id;
	struct scribe_helper_wanted wanted = *who;
	int pair[2], rc;

	wanted.id = ++id;
	*h = (struct scribe_helper){.pid = -1, .sock = -1, .id = id};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return scribe_err_set(err, -errno, "cannot start a helper: %s", strerror(errno));
	rc = scribe_helper_spawn(&wanted, pair[1], &h->pid);
	close(pair[1]);
	if (rc < 0) {
		close(pair[0]);
		h->pid = -1;
		return scribe_err_set(err, rc, "cannot start a helper: %s", strerror(-rc));
	}
	h->sock = pair[0];
	h->uid = who->uid;
	h->new = true;
	return 0;
}

/* Reads a new helper's first packet: its process id or an error. -EAGAIN: not yet. */
static int greet(struct scribe_helper *h, int ms)
{
	int rc = 0, given = -1;
	pid_t pid;

	if (!h->new)
		return 0;
	rc = ms ? scribe_helper_recv_within(h->sock, &pid, sizeof(pid), &given, ms)
		: scribe_helper_recv(h->sock, &pid, sizeof(pid), &given, MSG_DONTWAIT);
	drop(given);
	if (rc < 0)
		return rc;
	h->new = false;
	h->pid = pid;
	return pid < 0 ? pid : 0;
}

int scribe_helper_meet(struct scribe_helper *h, struct scribe_err *err)
{
	int rc = h->sock < 0 ? -EPIPE : greet(h, QUICK_MS);

	if (rc == 0)
		return 0;
	disconnect(h);
	*h = (struct scribe_helper){.pid = -1, .sock = -1, .uid = h->uid};
	return scribe_err_set(err, rc, "cannot become user %u: %s%s", (unsigned)h->uid, strerror(-rc),
			      rc == -EPERM ? ": CAP_SETUID and CAP_SETGID are needed" : "");
}

void scribe_helper_stop(struct scribe_helper *h)
{
	disconnect(h);
	/* Without a spawner it is our child and must be reaped; at most 1 s (200 times 5 ms). */
	for (int i = 0; !scribe_helper_has_spawner() && h->pid > 0 && i < 200; i++) {
		if (waitpid(h->pid, NULL, WNOHANG) != 0)
			break;
		usleep(5000);
	}
	*h = (struct scribe_helper){.pid = -1, .sock = -1};
}

static void give_up(struct scribe_helper *h)
{
	/* A late answer would be taken for that of the next request. */
	disconnect(h);
	h->asked = h->stashed = h->half = false;
}

/* `op_waits`: the caller reads the answer, and a stashed one is kept. Otherwise the deadline starts. */
static int ask(struct scribe_helper *h, const struct scribe_helper_question *q, int fd, uint32_t deadline_ms,
	       bool op_waits)
{
	int rc;

	if (h->sock < 0)
		return -EPIPE;
	if (h->asked && !(h->stashed && op_waits))
		return -EBUSY;
	rc = scribe_helper_send(h->sock, q, sizeof(*q), fd);
	if (rc < 0) {
		give_up(h);
		return rc;
	}
	if (op_waits)
		return 0;
	h->asked = true;
	h->deadline_ns = scribe_now_ns() + (uint64_t)deadline_ms * 1000000;
	return 0;
}

static int ask_how(struct scribe_helper *h, struct scribe_helper_question *q, int fd, bool how, uint32_t deadline_ms)
{
	q->replace = how;
	return ask(h, q, fd, deadline_ms, false);
}

static bool is_code(int rc)
{
	return rc <= 0 && rc >= -CODE_MAX;
}

/* Reads and keeps the answer of the request under way before another is sent. -EBUSY: it did not arrive in time. */
static int stash(struct scribe_helper *h)
{
	struct scribe_helper_answer a = {0};
	int fd = -1, rc;

	if (h->sock < 0 || !h->asked || h->stashed)
		return 0;
	rc = greet(h, QUICK_MS);
	if (rc == 0)
		rc = scribe_helper_recv_within(h->sock, &a, sizeof(a), &fd, QUICK_MS);
	drop(fd);
	h->stash = is_code(a.rc) ? a.rc : -EPROTO;
	h->stashed = rc == 0;
	return rc < 0 ? -EBUSY : 0;
}

/*
 * Sends and waits: 0 or a negative errno. `ret_fd`: receives the descriptor that a successful answer must carry;
 * NULL: none.
 */
static int ask_now(struct scribe_helper *h, const struct scribe_helper_question *q, int given, int ms, int *ret_fd)
{
	struct scribe_helper_answer a = {0};
	int fd = -1, rc = stash(h);

	if (rc == 0)
		rc = ask(h, q, given, 0, true);
	if (rc < 0)
		return rc;
	rc = greet(h, ms);
	if (rc == 0)
		rc = scribe_helper_recv_within(h->sock, &a, sizeof(a), &fd, ms);
	/* The helper may be compromised by what it read: its result is never used as a descriptor. */
	if (rc == 0 && (!is_code(a.rc) || (a.rc == 0 && ret_fd && fd < 0)))
		rc = -EPROTO;
	if (rc < 0)
		give_up(h);
	else
		rc = a.rc;
	if (rc < 0 || !ret_fd)
		drop(fd);
	else
		*ret_fd = fd;
	return rc;
}

/* NULL: the path is too long. Static, because it is 20 KiB; it is sent before the next is built. */
static struct scribe_helper_question *about(int op, const char *path)
{
	static struct scribe_helper_question q;

	memset(&q, 0, sizeof(q));
	q.op = op;
	if (strlen(path) >= sizeof(q.path))
		return NULL;
	strcpy(q.path, path);
	return &q;
}

static int ask_about(struct scribe_helper *h, int op, const char *path, unsigned own, const char *what, int *ret_fd,
		     struct scribe_err *err)
{
	struct scribe_helper_question *q = about(op, path);
	int rc;

	if (!q)
		return scribe_err_set(err, -ENAMETOOLONG, "cannot %s %s: name too long", what, path);
	q->prefix = own;
	rc = ask_now(h, q, -1, QUICK_MS, ret_fd);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot %s %s: %s", what, path, strerror(-rc));
	return rc;
}

int scribe_helper_mkdirs(struct scribe_helper *h, const char *path, unsigned own, struct scribe_err *err)
{
	return ask_about(h, SCRIBE_HELPER_MKDIRS, path, own, "make the directories of", NULL, err);
}

int scribe_helper_create(struct scribe_helper *h, const char *path, struct scribe_err *err)
{
	int fd = -1, rc = ask_about(h, SCRIBE_HELPER_CREATE, path, 0, "create", &fd, err);

	return rc < 0 ? rc : fd;
}

int scribe_helper_remove(struct scribe_helper *h, const char *path, struct scribe_err *err)
{
	return ask_about(h, SCRIBE_HELPER_REMOVE, path, 0, "remove", NULL, err);
}

int scribe_helper_analyse(struct scribe_helper *h, int fd, struct scribe_elf_analysis *ret, int ms)
{
	int rc = scribe_helper_analyse_begin(h, fd, (uint32_t)ms), answered = rc;

	while (rc == 0 && !scribe_helper_analysed(h, ret, &answered))
		poll(&(struct pollfd){.fd = h->sock, .events = POLLIN}, 1, 20);
	return answered;
}

int scribe_helper_analyse_begin(struct scribe_helper *h, int fd, uint32_t deadline_ms)
{
	static const struct scribe_helper_question q = {.op = SCRIBE_HELPER_ANALYSE};

	return ask(h, &q, fd, deadline_ms, false);
}

/* An answer of two packets: the result, then, on success, the data. False: incomplete before the deadline. */
static bool second(struct scribe_helper *h, void *ret, size_t bytes, int *ret_rc)
{
	struct scribe_helper_answer a = {0};
	int fd = -1;

	if (!h->half) {
		if (!scribe_helper_answer(h, &a))
			return false;
		*ret_rc = a.rc;
		if (a.rc < 0)
			return true;
		h->half = h->asked = true;
	}
	*ret_rc = scribe_helper_recv(h->sock, ret, bytes, &fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	if (*ret_rc == -EAGAIN && scribe_now_ns() < h->deadline_ns)
		return false;
	if (*ret_rc < 0)
		give_up(h);
	h->half = h->asked = false;
	return true;
}

bool scribe_helper_analysed(struct scribe_helper *h, struct scribe_elf_analysis *ret, int *ret_rc)
{
	return second(h, ret, sizeof(*ret), ret_rc);
}

int scribe_helper_resolve(struct scribe_helper *h, int root_fd, const char *path, bool nofollow, uint32_t deadline_ms)
{
	struct scribe_helper_question *q = about(SCRIBE_HELPER_RESOLVE, path);

	return q ? ask_how(h, q, root_fd, !nofollow, deadline_ms) : -ENAMETOOLONG;
}

bool scribe_helper_resolved(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc)
{
	if (!second(h, ret, sizeof(*ret), ret_rc))
		return false;
	/* Checked, because it becomes a file name in a log and is matched against exclusion rules. */
	if (*ret_rc == 0 && (!ret->bytes || ret->bytes >= sizeof(ret->text) || ret->text[0] != '/' ||
			     strnlen(ret->text, sizeof(ret->text)) != ret->bytes)) {
		give_up(h);
		*ret_rc = -EPROTO;
	}
	return true;
}

int scribe_helper_process_text(struct scribe_helper *h, pid_t pid, bool environment, size_t at, uint32_t deadline_ms)
{
	static struct scribe_helper_question q;

	q.op = environment ? SCRIBE_HELPER_ENVIRON : SCRIBE_HELPER_CMDLINE;
	q.where[0] = (uint64_t)pid;
	q.where[1] = at;
	return ask(h, &q, -1, deadline_ms, false);
}

bool scribe_helper_process_text_read(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc)
{
	if (!second(h, ret, sizeof(*ret), ret_rc))
		return false;
	if (*ret_rc == 0 && ret->bytes > sizeof(ret->text)) {
		give_up(h);
		*ret_rc = -EPROTO;
	}
	return true;
}

int scribe_helper_peek_begin(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t deadline_ms)
{
	static struct scribe_helper_question q = {.op = SCRIBE_HELPER_PEEK};

	q.prefix = (unsigned)bytes;
	q.where[0] = (uint64_t)pid;
	q.where[1] = at;
	return ask(h, &q, -1, deadline_ms, false);
}

bool scribe_helper_peeked(struct scribe_helper *h, uint32_t *ret_value, int *ret_rc)
{
	return second(h, ret_value, sizeof(*ret_value), ret_rc);
}

int scribe_helper_peek(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms)
{
	int rc = scribe_helper_peek_begin(h, pid, at, bytes, (uint32_t)ms), answered = rc;

	while (rc == 0 && !scribe_helper_peeked(h, ret_value, &answered))
		poll(&(struct pollfd){.fd = h->sock, .events = POLLIN}, 1, 20);
	return answered;
}

int scribe_helper_search(struct scribe_helper *h, const struct scribe_search *s)
{
	static struct scribe_helper_question q = {.op = SCRIBE_HELPER_SEARCH};

	_Static_assert(sizeof(*s) <= sizeof(q.note), "a search is part of a question");
	memcpy(q.note, s, sizeof(*s));
	return ask(h, &q, -1, 0, true);
}

int scribe_helper_found(struct scribe_helper *h, struct scribe_helper_found *ret, int *ret_fd, int ms)
{
	int rc = h->sock < 0 ? -EPIPE : greet(h, ms);

	if (rc == 0)
		rc = ms ? scribe_helper_recv_within(h->sock, ret, sizeof(*ret), ret_fd, ms)
			: scribe_helper_recv(h->sock, ret, sizeof(*ret), ret_fd, MSG_DONTWAIT);
	if (rc == -EAGAIN)
		return rc;
	if (rc < 0 && h->sock >= 0)
		give_up(h);
	/* The helper's text may lack the NUL. */
	ret->label[sizeof(ret->label) - 1] = 0;
	return rc;
}

int scribe_helper_put(struct scribe_helper *h, const struct scribe_helper_put *put, uint32_t deadline_ms)
{
	static struct scribe_helper_question q;
	const char *note = put->note ? put->note : "", *drop = put->drop ? put->drop : "";

	memset(&q, 0, sizeof(q));
	q.op = SCRIBE_HELPER_PUT;
	q.replace = put->replace;
	q.readable = put->readable;
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

int scribe_helper_fetch(struct scribe_helper *h, const char *path, int fd, uint32_t deadline_ms)
{
	const struct scribe_helper_question *q = about(SCRIBE_HELPER_FETCH, path);

	return q ? ask(h, q, fd, deadline_ms, false) : -ENAMETOOLONG;
}

int scribe_helper_days(struct scribe_helper *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms)
{
	struct scribe_helper_question *q = about(SCRIBE_HELPER_DAYS, path);

	if (!q)
		return -ENAMETOOLONG;
	q->prefix = (unsigned)log_dir_bytes;
	return ask(h, q, -1, deadline_ms, false);
}

int scribe_helper_ready(struct scribe_helper *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms)
{
	struct scribe_helper_question *q = about(remove ? SCRIBE_HELPER_REMOVE : SCRIBE_HELPER_MKDIRS, path);

	if (!q)
		return -ENAMETOOLONG;
	q->prefix = own;
	return ask(h, q, -1, deadline_ms, false);
}

int scribe_helper_attributes(struct scribe_helper *h, const char *attribute, int fd, uint32_t deadline_ms)
{
	const struct scribe_helper_question *q = about(SCRIBE_HELPER_ATTRIBUTES, attribute);

	return q ? ask(h, q, fd, deadline_ms, false) : -ENAMETOOLONG;
}

int scribe_helper_merge(struct scribe_helper *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms)
{
	struct scribe_helper_question *q = about(SCRIBE_HELPER_MERGE, dir);

	return q ? ask_how(h, q, fd, incomplete, deadline_ms) : -ENAMETOOLONG;
}

int scribe_helper_check_exclusion(struct scribe_helper *h, int fd, bool anew, uint32_t deadline_ms)
{
	static struct scribe_helper_question q = {.op = SCRIBE_HELPER_EXCLUSION};

	return ask_how(h, &q, fd, anew, deadline_ms);
}

/* True also if the helper is gone: rc is negative then. */
bool scribe_helper_answer(struct scribe_helper *h, struct scribe_helper_answer *ret)
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
	rc = greet(h, 0);
	if (rc == 0)
		rc = scribe_helper_recv(h->sock, ret, sizeof(*ret), &fd, MSG_DONTWAIT);
	if (rc == 0)
		drop(fd);
	if (rc == 0 && !is_code(ret->rc))
		rc = -EPROTO;
	if (rc == -EAGAIN && scribe_now_ns() < h->deadline_ns)
		return false;
	if (rc < 0)
		give_up(h);
	h->asked = false;
	if (rc < 0)
		*ret = (struct scribe_helper_answer){.rc = rc == -EAGAIN ? -ETIMEDOUT : rc};
	/* See scribe_helpers_end_hung(). */
	if (rc == -EAGAIN)
		scribe_helper_hangs();
	return true;
}

bool scribe_helper_answered(struct scribe_helper *h, int *ret_rc)
{
	struct scribe_helper_answer a;

	if (!scribe_helper_answer(h, &a))
		return false;
	*ret_rc = a.rc;
	return true;
}
