/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon stands on, with a clock and sockets of the test's: what waits for a peer, lines about
 * refusals, times of turns, the service manager, descriptors that are waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/proto.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/base/iteration_times.h"
#include "runtime/daemon/base/sd_notify.h"
#include "runtime/daemon/base/send_queue.h"
#include "runtime/daemon/base/subuids.h"

#define MS 1000000ull
#define S  1000000000ull

/* The clocks that the daemon asks: this program's definition comes before the C library's. */
static uint64_t now_ns, cpu_ns;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? cpu_ns : now_ns;

	if (clock != CLOCK_MONOTONIC && clock != CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, clock, ts);
	*ts = (struct timespec){.tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S)};
	return 0;
}

/* ---- what waits for a peer ---- */

static int ends[2];

static void connect_two(int buffer)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer)), 0);
}

static void disconnect(void)
{
	close(ends[0]);
	close(ends[1]);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The next message, or 0 when none is there now; its number, the descriptor that came with it. */
static int receive(unsigned *ret_n, int *ret_fd)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	const char *text = packet + sizeof(*h);
	ssize_t got = scribe_msg_recv(ends[1], packet, ret_fd, 0, NULL);

	if (got <= 0)
		return 0;
	assert_int_equal(h->type, SCRIBE_MSG_JOB_ENTRY);
	assert_int_equal((size_t)got, sizeof(*h) + h->len);
	assert_int_equal(sscanf(text, "%u:", ret_n), 1);
	for (uint32_t i = 8; i < h->len; i++)
		assert_int_equal(text[i], 'a' + *ret_n % 26);
	return 1;
}

static int send_number(struct scribe_send_queue *q, unsigned n, size_t bytes, int fd)
{
	static char text[SCRIBE_MSG_MAX];

	memset(text, 'a' + n % 26, bytes);
	snprintf(text, 9, "%07u:", n);
	text[8] = (char)('a' + n % 26);
	return scribe_send_queue_send(q, ends[0], SCRIBE_MSG_JOB_ENTRY, SCRIBE_ST_OK, text, bytes, fd);
}

static void sends_in_order_what_had_to_wait(void **unused)
{
	struct scribe_send_queue q = {0};
	unsigned before, next = 0, n, messages = 300;
	int fd, got_fd, went;
	char byte = 'x';

	(void)unused;
	connect_two(4096);
	before = open_descriptors();
	for (unsigned i = 0; i < messages; i++) {
		fd = i == 200 ? memfd_create("of message 200", MFD_CLOEXEC) : -1;
		if (fd >= 0)
			assert_int_equal(write(fd, &byte, 1), 1);
		assert_int_equal(send_number(&q, i, 1000, fd), 0);
		if (fd >= 0)
			close(fd); /* the queue has its own */
	}
	assert_non_null(q.first);
	assert_true(q.bytes > 200 * 1000);
	assert_int_equal(scribe_send_queue_flush(&q, ends[0]), 0); /* nobody has read */
	while (next < messages) {
		while (receive(&n, &got_fd)) {
			assert_int_equal(n, next++);
			assert_int_equal(got_fd >= 0, n == 200);
			if (got_fd >= 0) {
				byte = 0;
				assert_int_equal(pread(got_fd, &byte, 1, 0), 1);
				assert_int_equal(byte, 'x');
				close(got_fd);
			}
		}
		went = scribe_send_queue_flush(&q, ends[0]);
		assert_true(went > 0 || next == messages);
	}
	assert_null(q.first);
	assert_null(q.last);
	assert_int_equal(q.bytes, 0);
	assert_int_equal(open_descriptors(), before);
	disconnect();
}

static void takes_no_more_than_its_limit(void **unused)
{
	struct scribe_send_queue q = {0};
	unsigned before, n, i = 0;
	int fd, got_fd, rc = 0;

	(void)unused;
	connect_two(130000);
	before = open_descriptors();
	fd = memfd_create("of all", MFD_CLOEXEC);
	while (i < 2000 && (rc = send_number(&q, i, 60000, i < 20 ? fd : -1)) == 0)
		i++;
	close(fd);
	assert_int_equal(rc, -ENOBUFS);
	assert_true(q.bytes <= SCRIBE_OUTBOX_MAX && q.bytes > SCRIBE_OUTBOX_MAX - 61000);
	assert_true(open_descriptors() > before + 10);
	/* what is small may still fit; when one has gone there is room */
	while (receive(&n, &got_fd))
		close(got_fd);
	assert_true(scribe_send_queue_flush(&q, ends[0]) > 0);
	assert_int_equal(send_number(&q, i, 50000, -1), 0);
	scribe_send_queue_clear(&q);
	assert_null(q.first);
	assert_int_equal(q.bytes, 0);
	while (receive(&n, &got_fd)) /* those that have gone */
		close(got_fd);
	assert_int_equal(open_descriptors(), before);
	disconnect();
}

static void takes_all_up_to_its_limit(void **unused)
{
	struct scribe_send_queue q = {0};
	size_t head, left;
	unsigned n = 0;

	(void)unused;
	connect_two(4096);
	while (!q.first)
		assert_int_equal(send_number(&q, n++, 1000, -1), 0);
	head = q.bytes - 1000; /* beside each message */
	while ((left = SCRIBE_OUTBOX_MAX - q.bytes) > 60000)
		assert_int_equal(send_number(&q, n++, 30000, -1), 0);
	assert_int_equal(send_number(&q, n, left - head + 1, -1), -ENOBUFS);
	assert_int_equal(send_number(&q, n, left - head, -1), 0);
	assert_int_equal(q.bytes, SCRIBE_OUTBOX_MAX);
	assert_int_equal(send_number(&q, n, 9, -1), -ENOBUFS);
	scribe_send_queue_clear(&q);
	disconnect();
}

static void a_peer_that_is_gone(void **unused)
{
	struct scribe_send_queue q = {0};

	(void)unused;
	connect_two(4096);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(send_number(&q, i, 1000, -1), 0);
	assert_non_null(q.first);
	close(ends[1]);
	assert_true(scribe_send_queue_flush(&q, ends[0]) < 0);
	assert_non_null(q.first); /* what waits is the caller's to drop */
	scribe_send_queue_clear(&q);
	assert_int_equal(send_number(&q, 0, 1000, -1), -EPIPE);
	assert_null(q.first);
	close(ends[0]);
}

/* ---- lines about refusals ---- */

static char said[200000];

/* Standard error while `fn` runs, into `said`: how many lines. */
static unsigned lines_of(void (*fn)(unsigned), unsigned arg)
{
	int file = memfd_create("stderr", MFD_CLOEXEC), was = dup(2);
	unsigned n = 0;
	ssize_t bytes;

	fflush(stderr);
	dup2(file, 2);
	fn(arg);
	fflush(stderr);
	dup2(was, 2);
	close(was);
	bytes = pread(file, said, sizeof(said) - 1, 0);
	close(file);
	assert_true(bytes >= 0);
	said[bytes] = 0;
	for (const char *p = said; (p = strchr(p, '\n')); p++)
		n++;
	return n;
}

static void refuse(unsigned times)
{
	while (times--)
		scribe_audit_log_refused(1000, 77, "no such\njob\x7f\xc3\xa9 here");
}

static void refuse_at_length(unsigned bytes)
{
	char *text = calloc(1, bytes + 1);

	memset(text, 'l', bytes);
	scribe_audit_log_no_place(5, text);
	free(text);
}

static void old_keys(unsigned pid)
{
	scribe_audit_log_old_keys(5, (pid_t)pid, "attach, libraries");
}

static void refusals_are_told_within_limits(void **unused)
{
	(void)unused;
	now_ns = 1000 * S;
	assert_int_equal(lines_of(refuse, 1), 1);
	assert_string_equal(said, "ioscribed: refused uid 1000 pid 77: no such?job??? here\n");
	assert_int_equal(lines_of(refuse, 300), 199);
	now_ns += 10 * S - 1;
	assert_int_equal(lines_of(refuse, 5), 0);
	now_ns += 1;
	assert_int_equal(lines_of(refuse, 1), 2);
	assert_non_null(strstr(said, "ioscribed: refused 106 more requests\nioscribed: refused uid 1000"));
	/* a window in which nothing was left out is not spoken of */
	now_ns += 10 * S;
	assert_int_equal(lines_of(old_keys, 9), 1);
	assert_string_equal(said, "ioscribed: old names of keys, uid 5 pid 9: attach, libraries\n");
	assert_int_equal(lines_of(old_keys, 0), 1);
	assert_string_equal(said, "ioscribed: old names of keys in the environment, uid 5: attach, libraries\n");
	assert_int_equal(lines_of(refuse_at_length, 100000), 1);
	assert_int_equal(strlen(said), strlen("ioscribed: no place for a log of uid 5: \n") + SCRIBE_TEXT_MAX - 1);
}

/* ---- times of turns ---- */

static void turn(struct scribe_iterations *t, enum scribe_iteration_share share, uint64_t ns)
{
	scribe_iterations_begin(t);
	now_ns += ns;
	cpu_ns += ns / 2;
	scribe_iterations_share(t, share);
	scribe_iterations_end(t);
}

static void long_iterations_are_known_with_what_they_did(void **unused)
{
	struct scribe_iterations t = {.schedstat = -1};

	(void)unused;
	scribe_iterations_end(&t); /* none has begun */
	assert_int_equal(t.n, 0);
	turn(&t, SCRIBE_ITERATION_ACCEPT, SCRIBE_ITERATION_LONG_NS);
	assert_int_equal(t.long_iterations, 0); /* just not */
	scribe_iterations_begin(&t);
	now_ns += 10 * MS;
	scribe_iterations_share(&t, SCRIBE_ITERATION_ACCEPT);
	now_ns += 60 * MS;
	scribe_iterations_share(&t, SCRIBE_ITERATION_EVENTS);
	now_ns += 5 * MS;
	scribe_iterations_end(&t);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.long_iterations, 1);
	assert_int_equal(t.longest.wall_ns, 75 * MS);
	assert_int_equal(t.longest.part_ns[SCRIBE_ITERATION_EVENTS], 60 * MS);
	assert_string_equal(scribe_iteration_mostly(&t.longest), "events");
	turn(&t, SCRIBE_ITERATION_FREE, 75 * MS); /* the first of equal ones stays */
	assert_string_equal(scribe_iteration_mostly(&t.longest), "events");
	t.now.part_ns[SCRIBE_ITERATION_ACCEPT] = t.now.part_ns[SCRIBE_ITERATION_FREE];
	assert_string_equal(scribe_iteration_mostly(&t.now), "connections");
	turn(&t, SCRIBE_ITERATION_BUILD, 20 * MS);
	assert_int_equal(t.longest.wall_ns, 75 * MS);
	turn(&t, SCRIBE_ITERATION_BUILD, 80 * MS);
	assert_string_equal(scribe_iteration_mostly(&t.longest), "logs");
	assert_int_equal(t.longest.cpu_ns, 40 * MS);
	assert_int_equal(t.long_iterations, 3);
	assert_int_equal(t.n, 5);
}

static void waiting_for_a_processor_is_not_the_turns_own(void **unused)
{
	struct scribe_iterations t = {.schedstat = memfd_create("schedstat", MFD_CLOEXEC)};
	static const char waited[] = "5000 85000000 3\n";

	(void)unused;
	assert_int_equal(pwrite(t.schedstat, "4000 5000000 2\n", 15, 0), 15);
	scribe_iterations_begin(&t);
	now_ns += 100 * MS;
	assert_int_equal(pwrite(t.schedstat, waited, sizeof(waited) - 1, 0), sizeof(waited) - 1);
	scribe_iterations_end(&t);
	assert_int_equal(t.longest.queued_ns, 80 * MS);
	assert_int_equal(scribe_iteration_own_ns(&t.longest), 20 * MS);
	assert_int_equal(t.longest_wall_ns, 100 * MS);
	assert_int_equal(t.long_iterations, 0);
	/* it cannot have waited for longer than it lasted */
	t.longest.queued_ns = 200 * MS;
	assert_int_equal(scribe_iteration_own_ns(&t.longest), 0);
	scribe_iterations_close(&t);
	assert_int_equal(t.schedstat, -1);
}

/* ---- the service manager ---- */

static void expect_state(int sock, const struct sockaddr_un *at, size_t path_bytes, const char *variable)
{
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_bytes);
	char got[64];
	ssize_t n;

	assert_int_equal(bind(sock, (const void *)at, bytes), 0);
	setenv("NOTIFY_SOCKET", variable, 1);
	scribe_notify("READY=1");
	n = recv(sock, got, sizeof(got), MSG_DONTWAIT);
	assert_int_equal(n, 7);
	assert_memory_equal(got, "READY=1", 7);
	close(sock);
}

static void states_reach_the_manager(void **unused)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/ioscribe-unit.XXXXXX", name[64], far[300];

	(void)unused;
	assert_non_null(mkdtemp(dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", dir);
	expect_state(socket(AF_UNIX, SOCK_DGRAM, 0), &at, strlen(at.sun_path), at.sun_path);
	unlink(at.sun_path);
	scribe_notify("READY=1"); /* nobody listens: nothing happens */
	rmdir(dir);
	snprintf(name, sizeof(name), "@ioscribe-unit-%d", (int)getpid());
	memcpy(at.sun_path, name, strlen(name));
	at.sun_path[0] = 0;
	expect_state(socket(AF_UNIX, SOCK_DGRAM, 0), &at, strlen(name), name);
	memset(far, 'x', sizeof(far) - 1);
	far[0] = '/';
	far[sizeof(far) - 1] = 0;
	setenv("NOTIFY_SOCKET", far, 1);
	scribe_notify("READY=1");
	setenv("NOTIFY_SOCKET", "relative", 1);
	scribe_notify("READY=1");
	unsetenv("NOTIFY_SOCKET");
	scribe_notify("READY=1");
}

static void watchdog_is_for_this_process(void **unused)
{
	char mine[32], other[32];
	const struct {
		const char *usec, *pid;
		uint64_t ns;
	} cases[] = {
		{NULL, NULL, 0}, {"3000000", NULL, 3 * S}, {"3000000", mine, 3 * S}, {"3000000", other, 0},
		{"", mine, 0},   {"-5", mine, 0},          {"x", NULL, 0},           {"3000000", "", 3 * S},
		{"0", mine, 0},  {"9", NULL, 9000},        {":", NULL, 0},
	};

	(void)unused;
	snprintf(mine, sizeof(mine), "%d", (int)getpid());
	snprintf(other, sizeof(other), "%d", (int)getpid() + 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsetenv("WATCHDOG_USEC");
		unsetenv("WATCHDOG_PID");
		if (cases[i].usec)
			setenv("WATCHDOG_USEC", cases[i].usec, 1);
		if (cases[i].pid)
			setenv("WATCHDOG_PID", cases[i].pid, 1);
		assert_int_equal(scribe_notify_watchdog(), cases[i].ns);
	}
}

/* Descriptor 3 is a socket of that type while it is asked for. */
static int passed(int type, bool listening, const char *pid, const char *n)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int was = fcntl(3, F_DUPFD_CLOEXEC, 10), sock = socket(AF_UNIX, type, 0), rc, flags;

	if (listening) {
		/* an abstract name of the kernel's choice */
		assert_int_equal(bind(sock, (void *)&at, sizeof(at.sun_family)), 0);
		assert_int_equal(listen(sock, 1), 0);
	}
	if (sock != 3) {
		assert_int_equal(dup2(sock, 3), 3);
		close(sock);
	}
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", n, 1);
	rc = scribe_notify_socket();
	if (rc == 3) {
		flags = fcntl(3, F_GETFL);
		assert_true(flags & O_NONBLOCK);
		assert_int_equal(fcntl(3, F_GETFD), FD_CLOEXEC);
	}
	close(3);
	if (was >= 0) {
		dup2(was, 3);
		close(was);
	}
	return rc;
}

static void only_a_listening_packet_socket_is_taken(void **unused)
{
	char mine[32], other[32];

	(void)unused;
	snprintf(mine, sizeof(mine), "%d", (int)getpid());
	snprintf(other, sizeof(other), "%d", (int)getppid());
	assert_int_equal(passed(SOCK_SEQPACKET, true, mine, "1"), 3);
	assert_int_equal(passed(SOCK_SEQPACKET, true, mine, "2"), 3);
	assert_int_equal(passed(SOCK_SEQPACKET, true, other, "1"), -1);
	assert_int_equal(passed(SOCK_SEQPACKET, true, mine, "0"), -1);
	assert_int_equal(passed(SOCK_SEQPACKET, false, mine, "1"), -1);
	assert_int_equal(passed(SOCK_STREAM, true, mine, "1"), -1);
	unsetenv("LISTEN_PID");
	assert_int_equal(scribe_notify_socket(), -1);
}

/* ---- descriptors that are waited for ---- */

static int waits(int epoll, void **ret_what)
{
	struct epoll_event e = {0};
	int n = epoll_wait(epoll, &e, 1, 0);

	*ret_what = e.data.ptr;
	return n;
}

static void says_what_is_ready(void **unused)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), in[2], edge[2];
	int one, other;
	void *what;

	(void)unused;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(edge, O_CLOEXEC), 0);
	assert_int_equal(scribe_watch_in(epoll, in[0], &one), 0);
	assert_int_equal(scribe_watch_in(epoll, in[0], &one), -EEXIST);
	assert_int_equal(scribe_watch_in(epoll, -1, &one), -EBADF);
	assert_int_equal(waits(epoll, &what), 0);
	assert_int_equal(write(in[1], "x", 1), 1);
	for (int i = 0; i < 3; i++) { /* as long as it has something to say */
		assert_int_equal(waits(epoll, &what), 1);
		assert_ptr_equal(what, &one);
	}
	close(in[0]);
	assert_int_equal(scribe_watch_edge(epoll, edge[0], &other), 0);
	assert_int_equal(write(edge[1], "x", 1), 1);
	assert_int_equal(waits(epoll, &what), 1);
	assert_ptr_equal(what, &other);
	assert_int_equal(waits(epoll, &what), 0); /* nothing new */
	assert_int_equal(write(edge[1], "x", 1), 1);
	assert_int_equal(waits(epoll, &what), 1);
	close(edge[0]);
	close(edge[1]);
	close(in[1]);
	/* until it takes more, then again until it says something */
	connect_two(4096);
	assert_int_equal(scribe_watch_in(epoll, ends[0], &one), 0);
	assert_int_equal(waits(epoll, &what), 0);
	scribe_watch_out(epoll, ends[0], &other, true);
	assert_int_equal(waits(epoll, &what), 1);
	assert_ptr_equal(what, &other);
	scribe_watch_out(epoll, ends[0], &one, false);
	assert_int_equal(waits(epoll, &what), 0);
	assert_int_equal(send(ends[1], "x", 1, 0), 1);
	assert_int_equal(waits(epoll, &what), 1);
	assert_ptr_equal(what, &one);
	disconnect();
	close(epoll);
}

static void ids_of_a_line_of_subuid_are_one(void **state)
{
	char path[] = "/tmp/scribe-subuid-XXXXXX";
	const char text[] = "ann:100000:65536\n1001:200000:10\nbroken\nroot:0:5\nbob:165536:1\n";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	scribe_subuids_read(path);
	unlink(path);
	assert_int_equal(scribe_subuids_first(0), 0);
	assert_int_equal(scribe_subuids_first(3), 3);
	assert_int_equal(scribe_subuids_first(1001), 1001);
	assert_int_equal(scribe_subuids_first(99999), 99999);
	assert_int_equal(scribe_subuids_first(100000), 100000);
	assert_int_equal(scribe_subuids_first(165535), 100000);
	assert_int_equal(scribe_subuids_first(165536), 165536);
	assert_int_equal(scribe_subuids_first(165537), 165537);
	assert_int_equal(scribe_subuids_first(200009), 200000);
	assert_int_equal(scribe_subuids_first(200010), 200010);
	scribe_subuids_read("/nowhere");
	assert_int_equal(scribe_subuids_first(200009), 200009);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_a_line_of_subuid_are_one),
		cmocka_unit_test(sends_in_order_what_had_to_wait),
		cmocka_unit_test(takes_no_more_than_its_limit),
		cmocka_unit_test(takes_all_up_to_its_limit),
		cmocka_unit_test(a_peer_that_is_gone),
		cmocka_unit_test(refusals_are_told_within_limits),
		cmocka_unit_test(long_iterations_are_known_with_what_they_did),
		cmocka_unit_test(waiting_for_a_processor_is_not_the_turns_own),
		cmocka_unit_test(states_reach_the_manager),
		cmocka_unit_test(watchdog_is_for_this_process),
		cmocka_unit_test(only_a_listening_packet_socket_is_taken),
		cmocka_unit_test(says_what_is_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
