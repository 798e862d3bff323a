// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ledger against the kernel's own accounting: a child with known calls on
 * files, pipes, sockets and devices. What is recorded and what is left out is all
 * that /proc/PID/io says, and a program that loses calls is found out.
 */
#include "tests/kernel/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_CALLS 300
#define PIPE_CALLS 40
#define LOSE_EACH  10

struct kernels {
	unsigned long long rchar, wchar, syscr, syscw;
};

static void must(bool ok)
{
	if (!ok)
		_exit(9);
}

/* What the child does once it is told to; all of it through the kernel's accounting but the splice. */
static void work(void)
{
	char text[256] = "x";
	struct iovec v[2] = {{text, 100}, {text, 28}};
	int p[2], s[2], fd = open("account.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int null = open("/dev/null", O_WRONLY), other = open("account.copy", O_RDWR | O_CREAT, 0600);

	must(fd >= 0 && null >= 0 && other >= 0 && pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	for (int i = 0; i < FILE_CALLS; i++)
		must(pwrite(fd, text, 64, i * 64) == 64 && pread(fd, text, 32, i * 64) == 32);
	for (int i = 0; i < PIPE_CALLS; i++)
		must(write(p[1], text, 10) == 10 && read(p[0], text, 10) == 10);
	for (int i = 0; i < PIPE_CALLS; i++)
		must(write(s[1], text, 3) == 3 && read(s[0], text, 3) == 3 && write(null, text, 5) == 5);
	must(pwritev(fd, v, 2, 0) == 128 && preadv(fd, v, 2, 0) == 128);
	must(syscall(SYS_read, fd, 8ul, 16ul) == -1 && read(-1, text, 1) == -1 && write(p[0], text, 1) == -1);
	must(pread(fd, text, 16, 1 << 20) == 0);
	must(sendfile(other, fd, NULL, 4096) == 4096);
	must(syscall(SYS_copy_file_range, fd, NULL, other, NULL, 512, 0) == 512);
	_exit(0);
}

static struct kernels accounted(pid_t pid)
{
	struct kernels k = {0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(
		fscanf(f, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &k.rchar, &k.wchar, &k.syscr, &k.syscw),
		4);
	fclose(f);
	return k;
}

static int add_calls(void *ctx, const struct scribe_slot_view *view)
{
	for (unsigned i = 0; i < view->nshards; i++)
		*(uint64_t *)ctx += view->shard[i]->ops[0] + view->shard[i]->ops[1];
	return 0;
}

static struct scribe_ledger run(struct watched *w, struct kernels *ret_kernel, uint64_t *ret_recorded)
{
	struct scribe_job_entry job = {.active = 1, .quota = 1000};
	struct scribe_ledger ledger;
	uint32_t index, proc_id;
	struct scribe_err err;
	siginfo_t info;
	int go[2];
	char c = 0;
	pid_t pid;

	assert_int_equal(scribe_bpf_set_job(w->bpf, 0, &job), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		must(read(go[0], &c, 1) == 1);
		work();
	}
	assert_int_equal(scribe_bpf_enrol(w->bpf, pid, 0, &index, &proc_id, &err), 0);
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, 0);
	*ret_kernel = accounted(pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(go[0]);
	close(go[1]);
	watched_take(w);
	*ret_recorded = 0;
	assert_int_equal(scribe_bpf_drain_and_free(w->bpf, index, add_calls, ret_recorded), 0);
	assert_int_equal(scribe_bpf_ledger(w->bpf, 0, &ledger), 0);
	return ledger;
}

static uint64_t left_calls(const struct scribe_ledger *l)
{
	return l->v[SCRIBE_L_LEFT_PIPE_CALLS] + l->v[SCRIBE_L_LEFT_SOCKET_CALLS] + l->v[SCRIBE_L_LEFT_OTHER_CALLS] +
	       l->v[SCRIBE_L_LEFT_EXCLUDED_CALLS] + l->v[SCRIBE_L_LEFT_BEFORE_CALLS];
}

static void all_is_accounted_for(void **state)
{
	struct scribe_bpf_options options = {.slots = 1024, .procs = 64};
	struct scribe_ledger l;
	struct kernels kernel;
	uint64_t recorded;
	struct watched w;

	watched_begin(&w, &options);
	l = run(&w, &kernel, &recorded);
	assert_int_equal(l.v[SCRIBE_L_IO_CALLS], kernel.syscr + kernel.syscw);
	assert_int_equal(l.v[SCRIBE_L_IO_BYTES], kernel.rchar + kernel.wchar);
	assert_int_equal(l.v[SCRIBE_L_IO_MISSED_CALLS], 0);
	assert_int_equal(l.v[SCRIBE_L_IO_MISSED_BYTES], 0);
	assert_int_equal(l.v[SCRIBE_L_LEFT_SOCKET_CALLS], 2 * PIPE_CALLS);
	assert_int_equal(l.v[SCRIBE_L_LEFT_SOCKET_BYTES], 6 * PIPE_CALLS);
	assert_int_equal(l.v[SCRIBE_L_LEFT_OTHER_CALLS], PIPE_CALLS);
	assert_int_equal(l.v[SCRIBE_L_LEFT_OTHER_BYTES], 5 * PIPE_CALLS);
	/* the go-ahead came by a pipe, too: its call was under way when the child was enrolled */
	assert_in_range(l.v[SCRIBE_L_LEFT_PIPE_CALLS], 2 * PIPE_CALLS, 2 * PIPE_CALLS + 1);
	/* in the records: all but the failed ones, which the kernel counts if it got as far as the file */
	assert_in_range(kernel.syscr + kernel.syscw - left_calls(&l) - recorded, 0, 3);
	watched_end(&w);
}

static void lost_calls_are_found_out(void **state)
{
	struct scribe_bpf_options options = {.slots = 1024, .procs = 64, .lose_each = LOSE_EACH};
	struct scribe_ledger l;
	struct kernels kernel;
	uint64_t recorded;
	struct watched w;

	watched_begin(&w, &options);
	l = run(&w, &kernel, &recorded);
	assert_int_equal(l.v[SCRIBE_L_IO_CALLS], kernel.syscr + kernel.syscw);
	assert_in_range(l.v[SCRIBE_L_IO_MISSED_CALLS], FILE_CALLS / LOSE_EACH, 3 * FILE_CALLS / LOSE_EACH);
	assert_true(l.v[SCRIBE_L_IO_MISSED_BYTES] > 0);
	watched_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_accounted_for),
		cmocka_unit_test(lost_calls_are_found_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
