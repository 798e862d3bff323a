/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in a copy of the daemon: its answer, its end without one, what it may not, how many there
 * may be; and a descriptor that is closed while a copy still has it wakes nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/privsep/snapshot.h"

struct answer {
	long sum;
	char text[6000];
};

struct task {
	int fd, other, go;
	long n;
};

static void wait_for(struct scribe_snapshot *s, struct answer *a, int *ret_rc)
{
	memset(a, 0, sizeof(*a));
	while (!scribe_snapshot_answered(s, a, sizeof(*a), ret_rc))
		usleep(1000);
}

/* Numbers added, the descriptor written to; the one that it was not given is not there. */
static int add_up(void *ctx, void *answer)
{
	const struct task *t = ctx;
	struct answer *a = answer;
	char *room = malloc(10000000);

	memset(room, 1, 10000000);
	for (long i = 1; i <= t->n; i++)
		a->sum += i * room[i];
	free(room);
	memset(a->text, 'x', sizeof(a->text) - 1);
	if (pwrite(t->fd, "done", 4, 0) != 4)
		return -EIO;
	return write(t->other, "", 1) < 0 ? -errno : 0;
}

static void answers_and_writes(void **state)
{
	struct task t = {.fd = memfd_create("given", 0), .other = memfd_create("other", 0), .n = 1000};
	struct scribe_snapshot s = {0};
	struct answer a;
	char text[5] = "";
	int rc;

	(void)state;
	assert_int_equal(scribe_snapshot_start(&s, (const int[]){-1, t.fd}, 2, add_up, &t, sizeof(a)), 0);
	t.n = 0; /* the copy does not see it */
	wait_for(&s, &a, &rc);
	assert_int_equal(rc, -EBADF);
	assert_int_equal(a.sum, 500500);
	assert_int_equal(strlen(a.text), sizeof(a.text) - 1);
	assert_int_equal(pread(t.fd, text, 4, 0), 4);
	assert_string_equal(text, "done");
	assert_int_equal(s.pid, 0);
	assert_true(scribe_snapshots_cpu() > 0);
	close(t.fd);
	close(t.other);
}

static int dies(void *ctx, void *answer)
{
	(void)answer;
	if (ctx)
		_exit(open("/dev/null", O_RDONLY));
	raise(SIGSEGV);
	return 0;
}

static void ends_without_an_answer(void **state)
{
	struct scribe_snapshot s = {0};
	struct answer a;
	int rc;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(scribe_snapshot_start(&s, NULL, 0, dies, i ? &s : NULL, sizeof(a)), 0);
		wait_for(&s, &a, &rc);
		assert_int_equal(rc, -EPIPE);
	}
}

static int waits(void *ctx, void *answer)
{
	const struct task *t = ctx;
	char byte;

	(void)answer;
	return read(t->go, &byte, 1) < 0 ? -errno : 0;
}

static void so_many_at_once(void **state)
{
	struct scribe_snapshot s[SCRIBE_SNAPSHOTS_MAX + 1] = {0};
	struct answer a;
	struct task t;
	int go[2], rc;

	(void)state;
	assert_int_equal(pipe(go), 0);
	t.go = go[0];
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX; i++)
		assert_int_equal(scribe_snapshot_start(&s[i], go, 1, waits, &t, sizeof(a)), 0);
	assert_int_equal(scribe_snapshot_start(&s[SCRIBE_SNAPSHOTS_MAX], go, 1, waits, &t, sizeof(a)), -EAGAIN);
	assert_false(scribe_snapshot_answered(&s[0], &a, sizeof(a), &rc));
	scribe_snapshot_stop(&s[1]); /* it goes on, and counts until it has ended */
	assert_int_equal(scribe_snapshot_start(&s[SCRIBE_SNAPSHOTS_MAX], go, 1, waits, &t, sizeof(a)), -EAGAIN);
	close(go[1]);
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX; i++) {
		if (i == 1)
			continue;
		wait_for(&s[i], &a, &rc);
		assert_int_equal(rc, 0);
	}
	/* the one that was stopped, too, is reaped when it has ended */
	for (siginfo_t any; waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0; usleep(1000))
		scribe_snapshots_reap();
	assert_int_equal(errno, ECHILD);
	close(go[0]);
}

static void a_closed_descriptor_wakes_nobody(void **state)
{
	int epoll = epoll_create1(0), pair[2], go[2], what;
	struct epoll_event e;
	pid_t child;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) | pipe(go), 0);
	assert_int_equal(scribe_watch_in(epoll, pair[0], &what), 0);
	child = fork(); /* has all of them until it is told */
	if (child == 0) {
		close(go[1]);
		_exit(read(go[0], &e, 1) != 0);
	}
	scribe_watch_end(epoll, pair[0]);
	close(pair[0]);
	assert_int_equal(send(pair[1], "x", 1, 0), 1);
	assert_int_equal(epoll_wait(epoll, &e, 1, 0), 0);
	close(go[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(go[0]);
	close(pair[1]);
	close(epoll);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_and_writes),
		cmocka_unit_test(ends_without_an_answer),
		cmocka_unit_test(so_many_at_once),
		cmocka_unit_test(a_closed_descriptor_wakes_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
