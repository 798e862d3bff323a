// SPDX-License-Identifier: BSD-3-Clause
/*
 * The spawner: forked from the daemon before that gives up CAP_SETUID. Forks helpers and kills those that do
 * not exit. The first part runs in the spawner, the rest in the daemon's main thread. Must not know the
 * helpers' requests.
 */
#include "runtime/daemon/privsep/helper_spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/file_number.h"
#include "runtime/daemon/privsep/helper_main.h"
#include "runtime/daemon/privsep/subprocess.h"

#define END_MS   3000           /* for the spawner and the last helpers */
#define KILL_NS  10000000000ull /* after a helper is not needed any more */
#define RETRY_MS 20             /* between attempts to fork while the number of processes is at its limit */
#define DELAYED  256            /* requests that wait for a process */

static struct {
	struct scribe_subprocess process;
	bool hung; /* a helper missed its deadline */
	bool lost; /* the spawner has ended */
} spawner = {.process = SCRIBE_NO_SUBPROCESS};

static int fork_helper(const struct scribe_helper_wanted *who, int sock)
{
	pid_t pid;

	(void)scribe_calls_prepare(who->uid ? SCRIBE_PROCESS_HELPER : SCRIBE_PROCESS_ROOT_HELPER);
	pid = fork();
	if (pid == 0)
		scribe_helper_serve(sock, who);
	return pid < 0 ? -errno : pid;
}

/* Requests that met the limit of processes (a control group's pids.max, RLIMIT_NPROC), oldest first. */
static struct delayed {
	struct scribe_helper_wanted who;
	int sock;
} delayed[DELAYED];
static size_t ndelayed;

/* In the spawner: helpers that have not ended. */
static struct child {
	pid_t pid;
	uid_t uid;
	uint32_t id;
	uint64_t end_ns; /* when to kill it; 0: in use */
} * child;
static size_t nchildren, capacity;

static void keep_child(const struct child *c)
{
	struct child *more = child;

	if (nchildren == capacity) {
		more = realloc(child, (capacity * 2 + 16) * sizeof(*child));
		if (!more)
			return; /* it runs, but is not killed if it hangs */
		child = more;
		capacity = capacity * 2 + 16;
	}
	child[nchildren++] = *c;
}

static void kill_child(const struct child *c)
{
	/* The spawner lacks CAP_KILL, so it takes the user's identity for the call. */
	if (kill(c->pid, SIGKILL) == 0 || seteuid(c->uid) < 0)
		return;
	(void)kill(c->pid, SIGKILL);
	if (seteuid(0) < 0)
		_exit(1);
}

static void reap(void)
{
	pid_t ended;

	/* Entries leave the table only here: after the wait the process id may name another process. */
	while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
		for (size_t i = 0; i < nchildren; i++)
			if (child[i].pid == ended)
				child[i--] = child[--nchildren];
}

static void kill_children(bool all)
{
	uint64_t now = scribe_now_ns();

	for (size_t i = 0; i < nchildren; i++)
		if (all || (child[i].end_ns && now >= child[i].end_ns))
			kill_child(&child[i]);
}

static void unwanted(uint32_t id)
{
	/* Not at once: it may still be writing a log. */
	for (size_t i = 0; i < nchildren; i++)
		if (child[i].id == id)
			child[i].end_ns = scribe_now_ns() + KILL_NS;
}

/* The daemon has disconnected: its deadline has passed, or the job has ended. */
static void cancel(uint32_t id)
{
	size_t i = 0;

	while (i < ndelayed && delayed[i].who.id != id)
		i++;
	if (i == ndelayed) {
		unwanted(id);
		return;
	}
	close(delayed[i].sock);
	memmove(&delayed[i], &delayed[i + 1], (--ndelayed - i) * sizeof(delayed[0]));
}

/* Closes `sock`. -EAGAIN: no process could be made now, `sock` stays open. */
static int make_helper(const struct scribe_helper_wanted *who, int sock)
{
	int rc = fork_helper(who, sock);

	if (rc == -EAGAIN)
		return rc;
	if (rc > 0)
		keep_child(&(struct child){.pid = rc, .uid = who->uid, .id = who->id});
	else
		(void)scribe_helper_send(sock, &rc, sizeof(rc), -1); /* replaces the helper's first message */
	close(sock);
	return 0;
}

static void make_delayed(void)
{
	size_t made = 0;

	while (made < ndelayed && make_helper(&delayed[made].who, delayed[made].sock) == 0)
		made++;
	memmove(delayed, delayed + made, (ndelayed - made) * sizeof(delayed[0]));
	ndelayed -= made;
}

/*
 * At the limit of processes the request waits until others have ended: a log must not be lost because many jobs end
 * at once. The daemon's deadline goes on meanwhile.
 */
static void on_request(const struct scribe_helper_wanted *who, int sock)
{
	const int refused = -ENOMEM; /* -EAGAIN means to the daemon that no answer has arrived yet */

	if (!ndelayed && make_helper(who, sock) == 0)
		return;
	if (ndelayed < DELAYED) {
		delayed[ndelayed++] = (struct delayed){*who, sock};
		return;
	}
	(void)scribe_helper_send(sock, &refused, sizeof(refused), -1);
	close(sock);
}

/* Helpers exit when they are disconnected; those that do not within 1 s are killed. */
static void end_of_maker(void)
{
	reap();
	for (int i = 0; i < 100 && nchildren; i++) {
		usleep(10000);
		reap();
	}
	kill_children(true);
	_exit(0);
}

/* A service manager gives the daemon a read-only file system; helpers need the users' view, the root of process 1. */
static void enter_root_of_init(void)
{
	int root;

	if (!getenv("NOTIFY_SOCKET") ||
	    scribe_is_same_file(scribe_file_number("/proc/self/ns/mnt"), scribe_file_number("/proc/1/ns/mnt")))
		return;
	/* On failure, `ioscribe doctor --service` lists the logs that cannot be written. */
	root = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0 && fchdir(root) == 0)
		(void)!chroot(".");
	if (root >= 0)
		close(root);
}

static void make_helpers(int sock)
{
	struct scribe_helper_wanted who;
	int given;

	for (;;) {
		struct pollfd p = {.fd = sock, .events = POLLIN};
		bool is_asked = poll(&p, 1, ndelayed ? RETRY_MS : 1000) > 0;

		reap();
		kill_children(false);
		make_delayed();
		if (!is_asked)
			continue;
		if (scribe_helper_recv(sock, &who, sizeof(who), &given, 0) < 0)
			end_of_maker();
		if (given < 0) {
			cancel(who.id);
			continue;
		}
		who.user[sizeof(who.user) - 1] = 0;
		on_request(&who, given);
	}
}

int scribe_helpers_open(bool for_run, struct scribe_err *err)
{
	const struct scribe_subprocess_plan plan = {
		.name = "ioscribe-spawn",
		.role = for_run ? SCRIBE_PROCESS_RUN_SPAWNER : SCRIBE_PROCESS_SPAWNER,
		.before = for_run ? NULL : enter_root_of_init,
		.serve = make_helpers,
	};
	int rc = scribe_subprocess_start(&spawner.process, &plan);

	/* From here on the event loop must not block on it. */
	if (rc == 0 && fcntl(spawner.process.sock, F_SETFL, O_NONBLOCK) < 0) {
		rc = -errno;
		scribe_helpers_close();
	}
	return rc == 0 ? 0 : scribe_err_set(err, rc, "cannot start the process that makes helpers: %s", strerror(-rc));
}

void scribe_helpers_close(void)
{
	scribe_subprocess_close(&spawner.process, END_MS);
}

void scribe_helpers_end_hung(void)
{
	if (spawner.hung)
		scribe_helpers_close();
}

int scribe_helper_spawn(const struct scribe_helper_wanted *who, int sock, pid_t *ret_pid)
{
	if (spawner.process.sock >= 0) {
		int rc = scribe_helper_send(spawner.process.sock, who, sizeof(*who), sock);

		spawner.lost = spawner.lost || rc == -EPIPE;
		return rc;
	}
	*ret_pid = fork_helper(who, sock);
	return *ret_pid;
}

void scribe_helper_cancel(uint32_t id)
{
	const struct scribe_helper_wanted who = {.id = id};

	if (spawner.process.sock >= 0)
		(void)scribe_helper_send(spawner.process.sock, &who, sizeof(who), -1);
}

bool scribe_helpers_lost(void)
{
	return spawner.lost;
}

bool scribe_helper_has_spawner(void)
{
	return spawner.process.sock >= 0;
}

void scribe_helper_hangs(void)
{
	spawner.hung = true;
}
