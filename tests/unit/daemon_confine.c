/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each of the daemon's processes may not do, tried in a process that has become one:
 * a helper ends and leaves the call's number, the daemon and makers of helpers get an error
 * and go on. And what it has to do still goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/user/load_private.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"

enum { D = 1, M = 2, L = 4, H = 8, R = 16, P = 32, S = 64, F = 128, ALL = 255 };

static const struct {
	const char *name;
	unsigned bit;
	enum scribe_process_role role;
	int before; /* what it has been: a reader a helper, a snapshot the daemon; -1 nothing */
} roles[] = {
	{"daemon", D, SCRIBE_PROCESS_DAEMON, -1},
	{"maker", M, SCRIBE_PROCESS_SPAWNER, -1},
	{"maker of links", L, SCRIBE_PROCESS_LINKER, -1},
	{"reader of /proc", F, SCRIBE_PROCESS_PROCFS, -1},
	{"helper", H, SCRIBE_PROCESS_HELPER, -1},
	{"reader", R, SCRIBE_PROCESS_READER, SCRIBE_PROCESS_HELPER},
	{"helper of root", P, SCRIBE_PROCESS_ROOT_HELPER, -1},
	{"snapshot", S, SCRIBE_PROCESS_SNAPSHOT, SCRIBE_PROCESS_DAEMON},
};

#define GOES_ON(who) ((who) & (D | M | L | F))

static const struct {
	const char *name;
	long call;
	long a[4];
	unsigned who; /* may not */
	int error;    /* told whoever goes on */
} tries[] = {
	{"execve", SYS_execve, {0}, ALL, ENOSYS},
	{"execveat", SYS_execveat, {-1}, ALL, ENOSYS},
	{"ptrace", SYS_ptrace, {0}, ALL, ENOSYS},
	{"process_vm_readv", SYS_process_vm_readv, {0}, ALL & ~(P | M), ENOSYS},
	{"process_vm_writev", SYS_process_vm_writev, {0}, ALL, ENOSYS},
	{"mount", SYS_mount, {0}, ALL, ENOSYS},
	{"open_tree", 428, {-1}, ALL, ENOSYS},
	{"setns", SYS_setns, {-1}, ALL, ENOSYS},
	{"unshare", SYS_unshare, {0}, ALL, ENOSYS},
	{"chroot", SYS_chroot, {0}, ALL & ~M, ENOSYS},
	{"open_by_handle_at", SYS_open_by_handle_at, {-1}, ALL, ENOSYS},
	{"init_module", SYS_init_module, {0}, ALL, ENOSYS},
	{"keyctl", SYS_keyctl, {0}, ALL, ENOSYS},
	{"io_uring_setup", 425, {0}, ALL, ENOSYS},
	{"userfaultfd", SYS_userfaultfd, {0}, ALL, ENOSYS},
	{"mknodat", SYS_mknodat, {-1}, ALL, ENOSYS},
	{"clock_settime", SYS_clock_settime, {-1}, ALL, ENOSYS},
	{"fsetxattr", SYS_fsetxattr, {-1}, ALL, ENOSYS},
	{"lsetxattr", SYS_lsetxattr, {0}, ALL, ENOSYS},
	{"tgkill", SYS_tgkill, {1, 1, 0}, ALL, ENOSYS},
	{"rt_sigqueueinfo", SYS_rt_sigqueueinfo, {1, 0, 0}, ALL, ENOSYS},
	{"pidfd_getfd", 438, {-1}, ALL, ENOSYS},
	{"pidfd_send_signal", 424, {-1}, ALL, ENOSYS},
	/* by its arguments */
	{"kill", SYS_kill, {1, SIGTERM}, ALL & ~M, EPERM},
	{"clone of a process", SYS_clone, {SIGCHLD}, ALL & ~(M | L), EPERM},
	{"fork", SYS_clone, {SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID}, ALL & ~(D | M | L | F), EPERM},
	{"clone in a namespace", SYS_clone, {SIGCHLD | CLONE_NEWUSER}, ALL, EPERM},
	{"socket AF_INET", SYS_socket, {AF_INET, SOCK_STREAM}, ALL, EPERM},
	{"socket AF_NETLINK", SYS_socket, {AF_NETLINK, SOCK_RAW}, ALL, EPERM},
	{"socket AF_UNIX", SYS_socket, {AF_UNIX, SOCK_STREAM}, ALL & ~(D | M), EPERM},
	{"ioctl TIOCSTI", SYS_ioctl, {0, 0x5412}, ALL, EPERM},
	{"prctl", SYS_prctl, {PR_SET_DUMPABLE, 1}, ALL & ~(M | H | P), EPERM},
	{"memory made code", SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS}, ALL & ~M, EPERM},
	{"mprotect of code", SYS_mprotect, {0, 0, PROT_EXEC}, ALL & ~M, EPERM},
	{"bpf of another's program", SYS_bpf, {BPF_PROG_GET_FD_BY_ID}, ALL, EPERM},
	{"bpf of another's map", SYS_bpf, {BPF_MAP_GET_FD_BY_ID}, ALL, EPERM},
	{"bpf, a program", SYS_bpf, {BPF_PROG_LOAD}, ALL & ~D, EPERM},
	{"bpf, a link", SYS_bpf, {BPF_LINK_CREATE}, ALL & ~(D | L), EPERM},
	{"bpf, a table", SYS_bpf, {BPF_MAP_CREATE}, ALL & ~D, EPERM},
	{"perf_event_open", SYS_perf_event_open, {0}, ALL & ~D, ENOSYS},
	{"opening to write", SYS_openat, {AT_FDCWD, (long)"/dev/null", O_WRONLY}, R | L | S | F, EPERM},
	{"making a file", SYS_openat, {AT_FDCWD, (long)"/nowhere/x", O_CREAT}, R | L | S | F, EPERM},
	{"opening to read", SYS_openat, {AT_FDCWD, (long)"/dev/null", O_RDONLY}, S, EPERM},
	{"mkdirat", SYS_mkdirat, {-1}, R | L | S | F, ENOSYS},
	{"unlinkat", SYS_unlinkat, {-1}, R | L | S | F, ENOSYS},
	{"fchmod", SYS_fchmod, {-1}, R | L | S | F, ENOSYS},
	{"fchownat", SYS_fchownat, {-1}, ALL & ~D, ENOSYS},
	{"setresuid", SYS_setresuid, {-1, -1, -1}, ALL & ~M, ENOSYS},
	{"setgroups", SYS_setgroups, {-1}, ALL & ~M, ENOSYS},
	{"sched_setscheduler", SYS_sched_setscheduler, {-1}, ALL & ~D, ENOSYS},
};

struct seen {
	int status;
	struct scribe_refused_call told; /* zeros: nothing */
	char said[512];
};

/* Run `work` in a process of this role. */
static struct seen become(size_t role, void (*work)(const void *), const void *ctx)
{
	struct seen seen = {0};
	int pair[2], pipes[2];
	pid_t pid;
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		struct scribe_err err;

		dup2(pipes[1], STDERR_FILENO);
		dup2(pair[1], 3);
		if (roles[role].before >= 0 && scribe_sandbox((enum scribe_process_role)roles[role].before, &err) < 0)
			_exit(99);
		if (scribe_sandbox(roles[role].role, &err) < 0)
			_exit(99);
		work(ctx);
		_exit(98);
	}
	assert_true(pid > 0);
	close(pair[1]);
	close(pipes[1]);
	assert_int_equal(waitpid(pid, &seen.status, 0), pid);
	n = recv(pair[0], &seen.told, sizeof(seen.told), MSG_DONTWAIT);
	assert_true(n <= 0 || n == sizeof(seen.told));
	n = read(pipes[0], seen.said, sizeof(seen.said) - 1);
	assert_true(n >= 0);
	close(pair[0]);
	close(pipes[0]);
	return seen;
}

static void try_call(const void *which)
{
	size_t i = *(const size_t *)which;
	const long *a = tries[i].a;
	long rc = syscall((int)tries[i].call, a[0], a[1], a[2], a[3], tries[i].call == SYS_mmap ? -1 : 0, 0);

	scribe_calls_report();
	_exit(rc < 0 ? errno : 97);
}

static void refused_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		for (size_t p = 0; p < sizeof(roles) / sizeof(roles[0]); p++) {
			struct seen s;
			char number[32];
			bool ok;

			if (!(tries[i].who & roles[p].bit))
				continue;
			s = become(p, try_call, &i);
			snprintf(number, sizeof(number), "(%ld)", tries[i].call);
			ok = WIFEXITED(s.status) &&
			     WEXITSTATUS(s.status) == (GOES_ON(roles[p].bit) ? tries[i].error : 128 + SIGSYS);
			/* who it was stands in the daemon's log */
			if (roles[p].bit == D)
				ok = ok && strstr(s.said, "the daemon made a system call that is not on its list") &&
				     strstr(s.said, number);
			else
				ok = ok && s.told.magic == SCRIBE_REFUSED_CALL && s.told.call == tries[i].call;
			if (!ok)
				fail_msg("%s, as %s: status %x, told %d, said '%s'", tries[i].name, roles[p].name,
					 (unsigned)s.status, s.told.call, s.said);
		}
}

/* clone3 has its flags in memory: the C library is to take clone, and nobody to hear of it. */
static void try_clone3(const void *nothing)
{
	_exit(syscall(435, nothing, 0) < 0 ? errno : 97);
}

static void clone3_is_not_there(void **state)
{
	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct seen s = become(p, try_clone3, NULL);

		assert_true(WIFEXITED(s.status) && WEXITSTATUS(s.status) == ENOSYS);
		assert_int_equal(s.told.magic, 0);
		assert_string_equal(s.said, "");
	}
}

/* The daemon's threads leave signals to it; a call that is not allowed is an error all the same. */
static void *in_thread(void *arg)
{
	*(int *)arg = syscall(SYS_tgkill, 1, 1, 0) < 0 ? errno : 0;
	return arg;
}

static void work(const void *which)
{
	const struct timespec moment = {0, 1000000};
	unsigned bit = *(const unsigned *)which;
	void *memory = malloc(64 << 20);
	char text[64] = "";
	FILE *f = bit & S ? NULL : fopen("/proc/self/status", "re");
	pthread_t thread;
	int error = 0;

	if (!memory || (!(bit & S) && (!f || !fgets(text, sizeof(text), f) || strncmp(text, "Name:", 5) != 0)))
		_exit(1);
	memset(memory, 1, 64 << 20);
	free(memory);
	if (f)
		fclose(f);
	if (nanosleep(&moment, NULL) < 0 || send(3, "", 0, MSG_DONTWAIT) < 0)
		_exit(2);
	if (bit & (D | H | P) && (memfd_create("x", 0) < 0 || open("/dev/null", O_RDWR) < 0))
		_exit(3);
	if (bit & D &&
	    (scribe_thread_start(&thread, in_thread, &error) || pthread_join(thread, NULL) || error != ENOSYS))
		_exit(4);
	if (bit & (M | L | D)) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(5);
	}
	/* whatever the kernel says to that: it is asked */
	if (bit & (L | D))
		(void)syscall(SYS_bpf, BPF_LINK_CREATE, NULL, 0);
	_exit(0);
}

static void what_they_do_goes(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof(roles) / sizeof(roles[0]); p++) {
		struct seen s = become(p, work, &roles[p].bit);

		if (!WIFEXITED(s.status) || WEXITSTATUS(s.status))
			fail_msg("%s: status %x, told %d: %s", roles[p].name, (unsigned)s.status, s.told.call, s.said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_calls),
		cmocka_unit_test(clone3_is_not_there),
		cmocka_unit_test(what_they_do_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
