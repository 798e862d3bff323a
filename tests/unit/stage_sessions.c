// SPDX-License-Identifier: BSD-3-Clause
/*
 * The daemon's sessions and its drain, from a message or a kernel event to the log, without root: the real daemon
 * on the test's own kernel side, helpers and clock (stage.h).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/proto.h"
#include "logfmt/file/names.h"
#include "logfmt/file/reader.h"
#include "tests/fuzz/kernel.h"
#include "tests/fuzz/stage.h"

#define USER  1000
#define OTHER 1001
#define CMD   FUZZ_TGID

static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
static const struct scribe_msg_header *const header = (const void *)packet;
static const void *const payload = packet + sizeof(struct scribe_msg_header);

static void send_bytes(int fd, unsigned type, const void *from, size_t n)
{
	static char out[SCRIBE_MSG_MAX];
	struct scribe_msg_header h = {SCRIBE_MSG_MAGIC, SCRIBE_MSG_VERSION, (uint16_t)type, 0, (uint32_t)n};

	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), from, n);
	assert_int_equal(send(fd, out, sizeof(h) + n, MSG_NOSIGNAL), sizeof(h) + n);
}

static void send_text(int fd, unsigned type, const char *text)
{
	send_bytes(fd, type, text, strlen(text));
}

/* The next answer's type, after turns of the daemon if need be; 0: it says nothing. *ret_fd: its descriptor. */
static unsigned hear(int fd, int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {packet, sizeof(packet)};
	ssize_t n = -1;

	for (int i = 0; i < 200 && n < 0; i++) {
		struct msghdr m = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
		struct cmsghdr *c;

		stage_turn(1);
		n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
		if (c && ret_fd)
			memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	}
	return n > 0 ? header->type : 0;
}

/* A job of USER, by root; its number in the kernel's table. */
static uint32_t begin_job(const char *more)
{
	int root = stage_connect(0, 1);
	char text[256];

	snprintf(text, sizeof(text), "job_id=7\nuid=%d\nmatch_env=J=1\nlog_dir=/l\nlog_layout=flat\n%s", USER, more);
	send_text(root, SCRIBE_MSG_JOB_BEGIN, text);
	assert_int_equal(hear(root, NULL), SCRIBE_MSG_JOB_OK);
	close(root);
	return stage.d.jobs->index;
}

static void start(int tgid, uint32_t job, const char *env, size_t env_bytes)
{
	fuzz_kernel_join(tgid, job, USER);
	fuzz_kernel_exec(tgid, "./app\0x", 7, false);
	fuzz_kernel_env(tgid, env, (uint32_t)env_bytes, true);
}

/* End the job; the answer RESULT is in `packet`, of its one log `ret_log`, if it is wanted. */
static void end_job(struct scribe_msg_log *ret_log)
{
	int root = stage_connect(0, 1);
	unsigned type;

	send_text(root, SCRIBE_MSG_JOB_END, "job_id=7\ndeadline_s=1\n");
	while ((type = hear(root, NULL)) == SCRIBE_MSG_LOG)
		if (ret_log)
			memcpy(ret_log, payload, sizeof(*ret_log));
	assert_int_equal(type, SCRIBE_MSG_RESULT);
	close(root);
}

/* Of a log: bytes written of the file, -1: no record of it; "": of all. */
static int64_t written(int fd, const char *name)
{
	struct scribe_names *names = scribe_names_new();
	struct scribe_reader *r;
	struct scribe_err err;
	int64_t sum = -1;
	const void *rec;
	size_t bytes;

	assert_true(fd >= 0);
	assert_int_equal(scribe_reader_open_fd(fd, "log", &r, &err), 0);
	assert_int_equal(scribe_names_load(names, r, &err), 0);
	while (scribe_reader_borrow_record(r, SCRIBE_MOD_POSIX, &rec, &bytes) > 0) {
		const struct scribe_posix_record *p = rec;
		const char *own = scribe_names_find(names, p->base.id, NULL);

		assert_non_null(own);
		if (!name[0] || !strcmp(own, name))
			sum = (sum < 0 ? 0 : sum) + p->counters[SCRIBE_POSIX_BYTES_WRITTEN];
	}
	scribe_names_free(names);
	scribe_reader_free(r);
	return sum;
}

/* ---- sessions ---- */

static void a_job_from_begin_to_end(void **state)
{
	uint32_t job = begin_job("");
	struct scribe_msg_log log = {0};

	(void)state;
	start(CMD, job, "J=1", 4);
	fuzz_kernel_touch(CMD, 1, 100, SCRIBE_KIND_FILE, true);
	fuzz_kernel_touch(CMD, 1, 11, SCRIBE_KIND_FILE, true);
	fuzz_kernel_touch(CMD, 2, 5, SCRIBE_KIND_FILE, true);
	fuzz_kernel_exit(CMD, 0, true);
	end_job(&log);
	assert_string_equal(log.text, "");
	assert_int_equal(log.bytes_written, 116);
	assert_int_equal(log.partial, 0);
	assert_memory_equal(log.path, "/l/", 3);
	assert_int_equal(fuzz_put.n, 1);
	assert_memory_equal(fuzz_put.to, "/l/", 3);
	assert_int_equal(written(fuzz_put.fd, "/data/f1"), 111);
	assert_int_equal(written(fuzz_put.fd, "/data/f2"), 5);
	assert_int_equal(written(fuzz_put.fd, ""), 116);
	assert_null(stage.d.jobs);
}

static void a_job_is_its_users_alone(void **state)
{
	int other, own;

	(void)state;
	begin_job("");
	other = stage_connect(OTHER, 2);
	send_text(other, SCRIBE_MSG_JOB_LIST, "");
	assert_int_equal(hear(other, NULL), SCRIBE_MSG_JOB_OK); /* and no entry */
	send_text(other, SCRIBE_MSG_JOB_SHOW, "job_id=7\n");
	assert_int_equal(hear(other, NULL), SCRIBE_MSG_ERROR);
	close(other);
	other = stage_connect(OTHER, 2);
	send_text(other, SCRIBE_MSG_JOB_END, "job_id=7\n");
	assert_int_equal(hear(other, NULL), SCRIBE_MSG_ERROR);
	close(other);
	assert_non_null(stage.d.jobs);
	own = stage_connect(USER, 3);
	send_text(own, SCRIBE_MSG_JOB_LIST, "");
	assert_int_equal(hear(own, NULL), SCRIBE_MSG_JOB_ENTRY);
	assert_int_equal(hear(own, NULL), SCRIBE_MSG_JOB_OK);
	close(own);
	end_job(NULL);
}

static void a_run_from_begin_to_end(void **state)
{
	int run = stage_private(4);
	const struct scribe_msg_result *result = payload;
	const struct scribe_msg_enrol enrol = {.pid = CMD};
	const struct scribe_msg_end end = {.wait_status = 0};

	(void)state;
	send_text(run, SCRIBE_MSG_RUN_BEGIN, "log_file=/l/mine.darshan\n");
	assert_int_equal(hear(run, NULL), SCRIBE_MSG_READY);
	send_bytes(run, SCRIBE_MSG_ENROL, &enrol, sizeof(enrol));
	assert_int_equal(hear(run, NULL), SCRIBE_MSG_ENROLLED);
	fuzz_kernel_exec(CMD, "./app\0x", 7, false);
	fuzz_kernel_env(CMD, "A=b", 4, true);
	fuzz_kernel_touch(CMD, 3, 77, SCRIBE_KIND_FILE, true);
	fuzz_kernel_exit(CMD, 0, true);
	send_bytes(run, SCRIBE_MSG_END, &end, sizeof(end));
	assert_int_equal(hear(run, NULL), SCRIBE_MSG_LOG);
	assert_string_equal(((const struct scribe_msg_log *)payload)->path, "/l/mine.darshan");
	assert_int_equal(hear(run, NULL), SCRIBE_MSG_RESULT);
	assert_int_equal(result->logs, 1);
	assert_int_equal(result->failed, 0);
	assert_int_equal(written(fuzz_put.fd, "/data/f3"), 77);
	close(run);
}

/* Two ranks fetch at MPI_Finalize: nobody is answered before both have asked. */
static void ranks_fetch_their_records(void **state)
{
	static const char *const env[] = {"PMI_RANK=0\0PMI_SIZE=2\0J=1", "PMI_RANK=1\0PMI_SIZE=2\0J=1"};
	uint32_t job = begin_job("collective=yes\n");
	const struct scribe_msg_fetch fetch = {.tid = 1};
	const struct scribe_msg_done failed = {0};
	int rank[2], image[2] = {-1, -1};

	(void)state;
	fuzz_kernel_join(CMD, job, USER);
	fuzz_kernel_exec(CMD, "mpiexec\0-n\0002\0./app", 19, false);
	fuzz_kernel_env(CMD, "J=1", 4, true);
	for (int i = 0; i < 2; i++) {
		struct scribe_msg_hello hello = {.rank = i, .size = 2, .mpi = SCRIBE_MPI_MPICH};

		fuzz_kernel_fork(CMD + 1 + i, CMD);
		fuzz_kernel_exec(CMD + 1 + i, "./app\0x", 7, false);
		fuzz_kernel_env(CMD + 1 + i, env[i], 26, true);
		fuzz_kernel_touch(CMD + 1 + i, 1, 100 + (uint64_t)i, SCRIBE_KIND_FILE, true);
		stage_turn(2);
		rank[i] = stage_connect(USER, CMD + 1 + i);
		send_bytes(rank[i], SCRIBE_MSG_HELLO, &hello, sizeof(hello));
		assert_int_equal(hear(rank[i], NULL), SCRIBE_MSG_HELLO_OK);
		assert_int_equal(((const struct scribe_msg_hello_ok *)payload)->collective, 1);
	}
	send_bytes(rank[0], SCRIBE_MSG_FETCH, &fetch, sizeof(fetch));
	stage_turn(5);
	assert_int_equal(recv(rank[0], packet, sizeof(packet), MSG_DONTWAIT), -1);
	send_bytes(rank[1], SCRIBE_MSG_FETCH, &fetch, sizeof(fetch));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hear(rank[i], &image[i]), SCRIBE_MSG_FETCH_OK);
		assert_int_equal(written(image[i], "/data/f1"), 100 + i);
		close(image[i]);
		/* they could not write the log: the daemon has kept all */
		send_bytes(rank[i], SCRIBE_MSG_DONE, &failed, sizeof(failed));
		assert_int_equal(hear(rank[i], NULL), SCRIBE_MSG_DONE_OK);
		close(rank[i]);
		fuzz_kernel_exit(CMD + 1 + i, 0, true);
	}
	fuzz_kernel_exit(CMD, 0, true);
	end_job(NULL);
	assert_true(fuzz_put.n >= 1);
}

/* Whatever a peer breaks, it gets one ERROR and its connection ends; the job goes on. */
static void what_is_malformed_is_refused(void **state)
{
	static const char *const requests[] = {"job_id", "uid=1001\n", "records=many\n", "nonsense=1\n", ""};

	(void)state;
	begin_job("");
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		int fd = stage_connect(USER, 5);

		send_text(fd, SCRIBE_MSG_JOB_BEGIN, requests[i]);
		assert_int_equal(hear(fd, NULL), SCRIBE_MSG_ERROR);
		close(fd);
	}
	assert_non_null(stage.d.jobs);
	end_job(NULL);
}

/* ---- drain ---- */

/* The kernel's entries are given back, also where the event of the exit was lost. */
static void an_exit_that_nobody_told(void **state)
{
	uint32_t job = begin_job("");

	(void)state;
	start(CMD, job, "J=1", 4);
	start(CMD + 1, job, "J=1", 4);
	fuzz_kernel_touch(CMD, 1, 10, SCRIBE_KIND_FILE, true);
	fuzz_kernel_touch(CMD + 1, 1, 20, SCRIBE_KIND_FILE, true);
	stage_turn(2);
	fuzz_kernel_exit(CMD, 0, false);
	fuzz_kernel_lost(job);
	for (int i = 0; i < 100; i++) {
		fuzz_now_ns += 100000000;
		stage_turn(1);
	}
	assert_int_equal(scribe_bpf_job(stage.d.bpf, job)->used, 1); /* that of the process which lives */
	fuzz_kernel_exit(CMD + 1, 0, true);
	end_job(NULL);
	assert_int_equal(written(fuzz_put.fd, "/data/f1"), 30);
}

/* A record without a name is no file of another's; its bytes are there. */
static void a_name_that_was_lost(void **state)
{
	uint32_t job = begin_job("");
	struct scribe_msg_log log = {0};

	(void)state;
	start(CMD, job, "J=1", 4);
	fuzz_kernel_touch(CMD, 1, 10, SCRIBE_KIND_FILE, true);
	fuzz_kernel_touch(CMD, 2, 32, SCRIBE_KIND_FILE, false);
	fuzz_kernel_exit(CMD, 0, true);
	end_job(&log);
	assert_int_equal(written(fuzz_put.fd, "/data/f1"), 10);
	assert_int_equal(written(fuzz_put.fd, "/data/f2"), -1);
	assert_int_equal(written(fuzz_put.fd, "<unnamed:0:0:2>"), 32);
	assert_int_equal(log.bytes_written, 42);
}

/* As many records as there are, again and again: what is drained is used anew, and nothing is counted twice. */
static void slots_are_used_again(void **state)
{
	uint32_t job = begin_job("");
	int64_t sum = 0;

	(void)state;
	for (int round = 0; round < 6; round++) {
		start(CMD, job, "J=1", 4);
		for (unsigned i = 1; i <= 25; i++, sum += i)
			fuzz_kernel_touch(CMD, i, i, SCRIBE_KIND_FILE, true);
		stage_turn(2);
		fuzz_kernel_exit(CMD, 0, true);
		stage_turn(3);
		assert_int_equal(scribe_bpf_job(stage.d.bpf, job)->used, 0);
	}
	end_job(NULL);
	assert_int_equal(written(fuzz_put.fd, ""), sum - 6 * 25);
	assert_int_equal(written(fuzz_put.fd, "/data/f25"), 150);
}

/* ---- delivery ---- */

static void a_log_that_finds_no_room(void **state)
{
	uint32_t job = begin_job("");
	struct scribe_msg_log log = {0};

	(void)state;
	start(CMD, job, "J=1", 4);
	fuzz_kernel_touch(CMD, 1, 10, SCRIBE_KIND_FILE, true);
	fuzz_kernel_exit(CMD, 0, true);
	fuzz_hands(-ENOSPC, 0);
	end_job(&log);
	assert_non_null(strstr(log.text, "No space left on device"));
	assert_int_equal(((const struct scribe_msg_result *)payload)->failed, 1);
}

static int setup(void **state)
{
	(void)state;
	stage_begin();
	fuzz_put.keep = true;
	fuzz_put.n = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stage_end();
	return 0;
}

int main(void)
{
#define DAEMON_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		DAEMON_TEST(a_job_from_begin_to_end),      DAEMON_TEST(a_job_is_its_users_alone),
		DAEMON_TEST(a_run_from_begin_to_end),      DAEMON_TEST(ranks_fetch_their_records),
		DAEMON_TEST(what_is_malformed_is_refused), DAEMON_TEST(an_exit_that_nobody_told),
		DAEMON_TEST(a_name_that_was_lost),         DAEMON_TEST(slots_are_used_again),
		DAEMON_TEST(a_log_that_finds_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
