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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/sandbox.h"

#define ANSWER_MS  60         /* then a reader that waits in the kernel is replaced */
#define STARVED_MS 1000       /* and one that waits for a processor */
#define QUICK_NS   5000000ull /* waiting that is not counted */
#define SHARE      20u        /* of the time, at most one part is waiting for a user */
#define AHEAD_NS   120000000ull
#define START_MS   20000
#define REPLACE_MS 200
#define END_MS     5000

enum { LOOK, ROOT, TICKS };

struct question {
	uint32_t number;
	int32_t pid, what, pad;
};

struct answer {
	uint32_t number;
	int32_t blocked; /* it waited, and not for a processor */
	struct scribe_process_look look;
};

struct waited {
	uint64_t spent_ns, since_ns;
};

static struct {
	pid_t parent, pid;
	int sock;    /* to the reader; -1: the caller's process reads */
	int control; /* to its parent */
	uint32_t number;
	struct scribe_map waited; /* by user + 1: those who were waited for */
} reader = {.parent = -1, .sock = -1, .control = -1};

struct scribe_file_number scribe_file_number(const char *path)
{
	struct scribe_file_number n = {0};
	struct statx x;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &x) == 0)
		n = (struct scribe_file_number){makedev(x.stx_dev_major, x.stx_dev_minor), x.stx_ino};
	return n;
}

static struct scribe_file_number number_at(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return scribe_file_number(path);
}

static int read_one(pid_t pid, int what, struct scribe_process_look *ret)
{
	char path[64];
	ssize_t n;

	*ret = (struct scribe_process_look){0};
	if (what == ROOT) {
		snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
		return open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
	}
	if (what == TICKS) {
		ret->start_ticks = scribe_start_ticks((uint32_t)pid);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret->exe, sizeof(ret->exe) - 1);
	ret->exe[n > 0 ? n : 0] = 0;
	ret->program = scribe_file_number(path);
	ret->root = number_at(pid, "root/");
	ret->mounts = number_at(pid, "ns/mnt");
	return -1;
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
		fd = read_one(q.pid, q.what, &a.look);
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

/* Sends 0 or a negative errno, then each reader's process id; receives the readers' socket, then wishes for a new one.
 */
static _Noreturn void serve(int control)
{
	struct scribe_err err;
	int rc = scribe_helper_alone(control), sock = -1, none;
	char wish;

	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_NAME, "ioscribed-procs");
	if (rc == 0 && chdir("/") < 0)
		rc = -errno;
	if (rc == 0)
		rc = scribe_sandbox(SCRIBE_PROCESS_PROCFS, &err);
	if (scribe_helper_send(3, &rc, sizeof(rc), -1) < 0 || rc < 0 ||
	    scribe_helper_recv(3, &wish, sizeof(wish), &sock, 0) < 0 || sock < 0)
		_exit(1);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			answer_all(sock);
		rc = scribe_helper_send(3, &pid, sizeof(pid), -1);
		if (rc == 0)
			rc = scribe_helper_recv(3, &wish, sizeof(wish), &none, 0);
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		if (rc < 0)
			_exit(0); /* the daemon has ended */
	}
}

static int start(void)
{
	int control[2], pair[2], rc, given;
	char wish = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return -errno;
	reader.parent = fork();
	if (reader.parent == 0)
		serve(control[1]);
	close(control[1]);
	reader.control = control[0];
	if (reader.parent < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	reader.sock = pair[0];
	if (scribe_helper_recv_within(reader.control, &rc, sizeof(rc), &given, START_MS) < 0 ||
	    (rc == 0 && scribe_helper_send(reader.control, &wish, sizeof(wish), pair[1]) < 0) ||
	    (rc == 0 &&
	     scribe_helper_recv_within(reader.control, &reader.pid, sizeof(reader.pid), &given, START_MS) < 0))
		rc = -EPIPE;
	close(pair[1]);
	return rc;
}

int scribe_procfs_open(struct scribe_err *err)
{
	int rc = start();

	if (rc == 0)
		return 0;
	scribe_procfs_close();
	return scribe_err_set(err, rc, "cannot start the process that reads /proc: %s", strerror(-rc));
}

void scribe_procfs_close(void)
{
	if (reader.sock >= 0)
		close(reader.sock);
	if (reader.control >= 0)
		close(reader.control);
	for (int k = 0; reader.parent > 0 && k < END_MS / 5 && waitpid(reader.parent, NULL, WNOHANG) == 0; k++)
		usleep(5000);
	for (size_t i = 0; i < reader.waited.buckets; i++)
		free(reader.waited.entry[i].value);
	scribe_map_clear(&reader.waited);
	reader.parent = reader.sock = reader.control = -1;
}

static void replace(void)
{
	char wish = 0;
	int given;

	while (scribe_helper_recv(reader.control, &reader.pid, sizeof(reader.pid), &given, MSG_DONTWAIT) == 0)
		;
	reader.pid = 0;
	if (scribe_helper_send(reader.control, &wish, sizeof(wish), -1) < 0)
		scribe_procfs_close();
	else
		(void)scribe_helper_recv_within(reader.control, &reader.pid, sizeof(reader.pid), &given, REPLACE_MS);
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

/* Returns the descriptor that came with the answer, or -1. */
static int ask(uid_t uid, pid_t pid, int what, struct scribe_process_look *ret)
{
	struct question q = {.number = ++reader.number, .pid = pid, .what = what};
	struct pollfd p = {.fd = reader.sock, .events = POLLIN};
	uint64_t start_ns = scribe_now_ns();
	static struct answer a;
	bool answered = false;
	int fd = -1;

	*ret = (struct scribe_process_look){0};
	if (reader.sock < 0)
		return read_one(pid, what, ret);
	if (!may_wait(uid, start_ns) || send(reader.sock, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(q))
		return -1;
	while (!answered) {
		uint64_t ms = (scribe_now_ns() - start_ns) / 1000000;
		char state = ms < ANSWER_MS ? 'R' : reader.pid > 0 ? scribe_process_state((uint32_t)reader.pid) : 0;

		if (ms >= STARVED_MS || (state != 'R' && state != 'S'))
			break;
		if (poll(&p, 1, ms < ANSWER_MS ? ANSWER_MS - (int)ms : ANSWER_MS) > 0)
			answered = take_answer(q.number, &a, &fd);
	}
	if (answered)
		*ret = a.look;
	else
		replace();
	if (!answered || a.blocked)
		has_waited(uid, scribe_now_ns() - start_ns);
	return fd;
}

void scribe_procfs_look(uid_t uid, pid_t pid, struct scribe_process_look *ret)
{
	(void)ask(uid, pid, LOOK, ret);
}

int scribe_procfs_root(uid_t uid, pid_t pid)
{
	static struct scribe_process_look none;

	return ask(uid, pid, ROOT, &none);
}

uint64_t scribe_procfs_start_ticks(uid_t uid, pid_t pid)
{
	static struct scribe_process_look look;

	(void)ask(uid, pid, TICKS, &look);
	return look.start_ticks;
}
