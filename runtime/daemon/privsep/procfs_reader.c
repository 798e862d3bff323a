// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that reads, and its parent, which replaces it when the daemon says so. Readers share one socket: an answer
 * to an earlier question is dropped.
 */
#include "runtime/daemon/privsep/procfs_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/subprocess.h"

#define ANSWER_MS  60         /* then a reader that waits in the kernel is replaced */
#define STARVED_MS 1000       /* and one that waits for a processor */
#define QUICK_NS   5000000ull /* waiting that is not counted */
#define SHARE      20u        /* of the time, at most one part is waiting for a user */
#define AHEAD_NS   120000000ull
#define START_MS   20000 /* for the first reader, on a loaded machine */
#define REPLACE_MS 200
#define END_MS     5000

enum { LOOK, ROOT, TICKS };

struct question {
	uint32_t number;
	int32_t pid, what, pad;
};

struct answer {
	uint32_t number;
	int32_t blocked;      /* it waited, and not for a processor */
	uint64_t start_ticks; /* of TICKS */
	struct scribe_process_look look;
};

struct waited {
	uint64_t spent_ns, since_ns;
};

static struct {
	struct scribe_subprocess parent;
	pid_t pid;
	int sock; /* to the reader; -1: the caller's process reads */
	uint32_t number;
	struct scribe_map waited; /* by user + 1: those who were waited for */
} reader = {.parent = SCRIBE_NO_SUBPROCESS, .sock = -1};

static struct scribe_file_number number_at(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return scribe_file_number(path);
}

static void look_at(pid_t pid, struct scribe_process_look *ret)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret->exe, sizeof(ret->exe) - 1);
	ret->exe[n > 0 ? n : 0] = 0;
	ret->program = scribe_file_number(path);
	ret->root = number_at(pid, "root/");
	ret->mounts = number_at(pid, "ns/mnt");
}

/* Returns the descriptor of ROOT, otherwise -1. */
static int read_one(pid_t pid, int what, struct answer *ret)
{
	char path[64];

	*ret = (struct answer){0};
	if (what == LOOK)
		look_at(pid, &ret->look);
	if (what == TICKS)
		ret->start_ticks = scribe_start_ticks((uint32_t)pid);
	if (what != ROOT)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
}

static _Noreturn void answer_all(int sock)
{
	static struct answer a;
	struct question q;
	int given;

	while (scribe_helper_recv(sock, &q, sizeof(q), &given, 0) == 0) {
		struct rusage before = {0}, after = {0};
		int fd;

		getrusage(RUSAGE_SELF, &before);
		fd = read_one(q.pid, q.what, &a);
		getrusage(RUSAGE_SELF, &after);
		a.number = q.number;
		a.blocked = after.ru_nvcsw != before.ru_nvcsw;
		if (scribe_helper_send(sock, &a, sizeof(a), fd) < 0)
			break;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* Receives the readers' socket, then wishes for a new one; sends each reader's process id. */
static void serve(int control)
{
	int rc, sock = -1, none;
	char wish;

	if (scribe_helper_recv(control, &wish, sizeof(wish), &sock, 0) < 0 || sock < 0)
		return;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			answer_all(sock);
		rc = scribe_helper_send(control, &pid, sizeof(pid), -1);
		if (rc == 0)
			rc = scribe_helper_recv(control, &wish, sizeof(wish), &none, 0);
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		if (rc < 0)
			return; /* the daemon has ended */
	}
}

static int start_reader(void)
{
	int pair[2], rc, given;
	char wish = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	reader.sock = pair[0];
	rc = scribe_helper_send(reader.parent.sock, &wish, sizeof(wish), pair[1]);
	close(pair[1]);
	if (rc == 0)
		rc = scribe_helper_recv_within(reader.parent.sock, &reader.pid, sizeof(reader.pid), &given, START_MS);
	return rc;
}

int scribe_procfs_open(struct scribe_err *err)
{
	static const struct scribe_subprocess_plan plan = {
		.name = "ioscribed-procs", .role = SCRIBE_PROCESS_PROCFS, .serve = serve};
	int rc = scribe_subprocess_start(&reader.parent, &plan);

	if (rc == 0)
		rc = start_reader();
	if (rc == 0)
		return 0;
	scribe_procfs_close();
	return scribe_err_set(err, rc, "cannot start the process that reads /proc: %s", strerror(-rc));
}

void scribe_procfs_close(void)
{
	if (reader.sock >= 0)
		close(reader.sock);
	reader.sock = -1;
	scribe_subprocess_close(&reader.parent, END_MS);
	for (size_t i = 0; i < reader.waited.buckets; i++)
		free(reader.waited.entry[i].value);
	scribe_map_clear(&reader.waited);
}

static void replace(void)
{
	char wish = 0;
	int given;

	while (scribe_helper_recv(reader.parent.sock, &reader.pid, sizeof(reader.pid), &given, MSG_DONTWAIT) == 0)
		;
	reader.pid = 0;
	if (scribe_helper_send(reader.parent.sock, &wish, sizeof(wish), -1) < 0)
		scribe_procfs_close();
	else
		(void)scribe_helper_recv_within(reader.parent.sock, &reader.pid, sizeof(reader.pid), &given,
						REPLACE_MS);
}

static bool may_wait(uid_t uid, uint64_t now)
{
	struct waited *w = scribe_map_get(&reader.waited, scribe_subuids_first(uid) + 1ull);
	uint64_t allowed;

	if (!w)
		return true;
	allowed = (now - w->since_ns) / SHARE;
	w->spent_ns -= allowed < w->spent_ns ? allowed : w->spent_ns;
	w->since_ns = now;
	return w->spent_ns < AHEAD_NS;
}

static void has_waited(uid_t uid, uint64_t ns)
{
	uint64_t key = scribe_subuids_first(uid) + 1ull;
	struct waited *w = scribe_map_get(&reader.waited, key);

	if (ns < QUICK_NS || uid == 0)
		return;
	if (!w && (w = calloc(1, sizeof(*w)))) {
		w->since_ns = scribe_now_ns();
		if (scribe_map_put(&reader.waited, key, w) < 0) {
			free(w);
			return;
		}
	}
	if (w)
		w->spent_ns += ns;
}

/* True: *ret is the answer to this question, *ret_fd its descriptor or -1. */
static bool take_answer(uint32_t number, struct answer *ret, int *ret_fd)
{
	if (scribe_helper_recv(reader.sock, ret, sizeof(*ret), ret_fd, MSG_DONTWAIT) == 0 && ret->number == number)
		return true;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return false;
}

/* False: no answer came in time. *ret_fd is the descriptor of ROOT, or -1. */
static bool ask(uid_t uid, pid_t pid, int what, struct answer *ret, int *ret_fd)
{
	struct question q = {.number = ++reader.number, .pid = pid, .what = what};
	struct pollfd p = {.fd = reader.sock, .events = POLLIN};
	uint64_t start_ns = scribe_now_ns();
	bool answered = false;

	*ret_fd = -1;
	if (reader.sock < 0) {
		*ret_fd = read_one(pid, what, ret);
		return true;
	}
	if (!may_wait(uid, start_ns) || send(reader.sock, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(q))
		return false;
	while (!answered) {
		uint64_t ms = (scribe_now_ns() - start_ns) / 1000000;
		char state = ms < ANSWER_MS ? 'R' : reader.pid > 0 ? scribe_process_state((uint32_t)reader.pid) : 0;

		if (ms >= STARVED_MS || (state != 'R' && state != 'S'))
			break;
		if (poll(&p, 1, ms < ANSWER_MS ? ANSWER_MS - (int)ms : ANSWER_MS) > 0)
			answered = take_answer(q.number, ret, ret_fd);
	}
	if (!answered)
		replace();
	if (!answered || ret->blocked)
		has_waited(uid, scribe_now_ns() - start_ns);
	return answered;
}

/* 4 KiB: not on the stack. */
static struct answer last;

void scribe_procfs_look(uid_t uid, pid_t pid, struct scribe_process_look *ret)
{
	int none;

	*ret = ask(uid, pid, LOOK, &last, &none) ? last.look : (struct scribe_process_look){0};
}

int scribe_procfs_root(uid_t uid, pid_t pid)
{
	int fd;

	(void)ask(uid, pid, ROOT, &last, &fd);
	return fd;
}

bool scribe_procfs_start_ticks(uid_t uid, pid_t pid, uint64_t *ret)
{
	int none;
	bool known = ask(uid, pid, TICKS, &last, &none);

	*ret = known ? last.start_ticks : 0;
	return known;
}
