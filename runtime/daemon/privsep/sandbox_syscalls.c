// SPDX-License-Identifier: BSD-3-Clause
/*
 * The system calls that each of the daemon's processes may make. A refused call raises SIGSYS; the handler
 * reports it and ends a helper, or sets an error in the daemon and spawners, because a newer C library may fall
 * back to another call. Must not know what the processes do.
 */
#include "runtime/daemon/privsep/sandbox_syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS_MAX      1024
#define NO_BPF_COMMAND 0x7fffffff /* bpf/user/machine.c probes with it whether bpf() is allowed */

/* D daemon, M spawner, H helper, R reader of user data, P root's helper, L link maker, S snapshot, F of /proc. */
enum { D = 1, M = 2, H = 4, R = 8, P = 16, L = 32, S = 64, F = 128, ALL = D | M | H | R | P, ANY = ALL | L | S | F };

struct allowed {
	int call;
	unsigned who;
};

#define CALL(name, who) {SCMP_SYS(name), who}

static const struct allowed table[] = {
		/* open descriptors */
	CALL(read, ANY),
	CALL(readv, ALL | S),
	CALL(pread64, ANY),
	CALL(write, ANY),
	CALL(writev, ALL | S), /* abort message of the C library */
	CALL(pwrite64, D | H | S),
	CALL(lseek, ALL | S),
	CALL(close, ANY),
	CALL(fstat, ALL | S | F),
	CALL(fcntl, ALL | S),
	CALL(dup, ALL),
	CALL(dup2, D | M),
	CALL(dup3, D | M),
	CALL(close_range, D | M), /* a new helper keeps only its socket */
	CALL(ftruncate, D | H | S),
	CALL(fallocate, D | H),
	CALL(fsync, D | H),
	CALL(fdatasync, D | H),
	CALL(flock, D | H),
	CALL(sendfile, D),
	/* names */
	CALL(stat, ALL),
	CALL(lstat, ALL),
	CALL(newfstatat, ALL | S | F),
	CALL(statx, ALL | F),
	CALL(access, ALL),
	CALL(faccessat, ALL),
	CALL(faccessat2, ALL),
	CALL(readlink, ALL | F),
	CALL(readlinkat, ALL | F),
	CALL(getdents64, ALL),
	CALL(getcwd, ALL),
	CALL(statfs, D | H),
	CALL(fstatfs, D | H | R),
	CALL(getxattr, H | R), /* striping of files */
	CALL(fgetxattr, H | R),
	CALL(lgetxattr, H | R),
	CALL(open, D | M | H),
	CALL(openat, D | M | H),
	CALL(openat2, D | H | R),
	/* the daemon's own files, and users' logs */
	CALL(mkdir, D | H),
	CALL(mkdirat, D | H),
	CALL(rmdir, D | H),
	CALL(unlink, D | H),
	CALL(unlinkat, D | H),
	CALL(rename, D | H),
	CALL(renameat, D | H),
	CALL(renameat2, D | H),
	CALL(link, D | H), /* without replacing, if renameat2 cannot */
	CALL(linkat, D | H),
	CALL(chmod, D | H),
	CALL(fchmod, D | H),
	CALL(fchmodat, D | H),
	CALL(umask, D | M | H),
	CALL(chdir, M | H),
	CALL(fchdir, M), /* root directory of the traced process */
	CALL(chroot, M),
	CALL(chown, D),
	CALL(fchownat, D),
	CALL(memfd_create, D | H),
	/* memory; only spawners load code: NSS modules for a user's groups */
	CALL(mmap, M),
	CALL(mprotect, M),
	CALL(munmap, ANY),
	CALL(mremap, ANY),
	CALL(madvise, ANY),
	CALL(brk, ANY),
	CALL(getrandom, ANY),
	/* sockets and waiting */
	CALL(sendmsg, ANY),
	CALL(recvmsg, ANY),
	CALL(sendto, ANY),
	CALL(recvfrom, ALL),
	CALL(poll, ANY),
	CALL(ppoll, ANY),
	CALL(bind, D),
	CALL(listen, D),
	CALL(accept, D),
	CALL(accept4, D),
	CALL(connect, M), /* NSS: nscd, sssd, systemd */
	CALL(getsockopt, D | M),
	CALL(setsockopt, D | M),
	CALL(getsockname, D | M),
	CALL(getpeername, M),
	CALL(shutdown, D | M),
	CALL(select, M),
	CALL(pselect6, M),
	CALL(pipe2, D),
	CALL(eventfd2, D | M),
	CALL(epoll_create1, D | M),
	CALL(epoll_ctl, D | M),
	CALL(epoll_wait, D | M),
	CALL(epoll_pwait, D | M),
	CALL(epoll_pwait2, D | M),
	CALL(timerfd_create, M),
	CALL(timerfd_settime, M),
	/* the thread itself */
	CALL(futex, ANY),
	CALL(set_robust_list, D | M | L | F),
	CALL(rseq, D | M | L | F),
	CALL(set_tid_address, D | M | L | F),
	CALL(membarrier, D), /* waits for running BPF programs (bpf/user/traced_slots.c) */
	CALL(sched_yield, ANY),
	CALL(sched_getaffinity, ALL),
	CALL(sched_getscheduler, D),  /* calls on maps must not be preempted (bpf/user/map_calls.h) */
	CALL(sched_setscheduler, D),
	CALL(sched_getparam, D),
	CALL(getpid, ANY),
	CALL(gettid, ANY),
	CALL(getppid, D | M),
	CALL(getuid, ALL),
	CALL(geteuid, ALL),
	CALL(getgid, ALL),
	CALL(getegid, ALL),
	CALL(getrlimit, ALL),
	CALL(setrlimit, ALL), /* only lowers: no process has CAP_SYS_RESOURCE */
	CALL(prlimit64, ALL),
	CALL(getrusage, ALL | S | F),
	CALL(uname, ALL),
	CALL(sysinfo, ALL | S),
	CALL(clock_gettime, ANY),
	CALL(clock_getres, ALL | S),
	CALL(gettimeofday, ANY),
	CALL(time, ALL | S),
	CALL(nanosleep, ANY),
	CALL(clock_nanosleep, ANY),
	CALL(rt_sigaction, ANY),
	CALL(rt_sigprocmask, ANY),
	CALL(rt_sigreturn, ANY),
	CALL(sigaltstack, ANY),
	CALL(restart_syscall, ANY),
	CALL(exit, ANY),
	CALL(exit_group, ANY),
	CALL(setitimer, D | L), /* wall time limits */
	/* other processes */
	CALL(wait4, D | M | L | F),
	CALL(waitid, D | M),
	CALL(pidfd_open, D), /* task storage of enrolled processes */
	CALL(process_vm_readv, P),
	/* identity and confinement */
	CALL(setsid, M),
	CALL(setgroups, M),
	CALL(setresgid, M),
	CALL(setresuid, M),
	CALL(capget, D | M | H),
	CALL(capset, D | M | H),
	CALL(prctl, M | H),
	/* BPF */
	CALL(perf_event_open, D),
};

struct argument {
	int call;
	unsigned who;
	struct scmp_arg_cmp is;
};

/* Masked to 32 bits, because the kernel ignores the upper half of an int argument. */
#define IS(name, who, n, value)       HAS(name, who, n, 0xffffffff, value)
#define HAS(name, who, n, mask, bits) {SCMP_SYS(name), who, SCMP_CMP(n, SCMP_CMP_MASKED_EQ, mask, bits)}
#define BPF(command, who)             IS(bpf, who, 0, command)
#define CHANGES                       (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define THREAD                        (CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define FORK                          (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
#define NAMESPACES                                                                                           \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP)

/* If the first table does not allow the call; one matching line is enough. */
static const struct argument arguments[] = {
	/* Files are opened for reading only; a filter cannot see the flags of openat2 (path_lookup.h). */
	HAS(openat, R | L | F, 2, CHANGES, 0),
	HAS(open, R | L | F, 1, CHANGES, 0),
	HAS(mmap, ANY, 2, PROT_EXEC, 0),
	HAS(mprotect, ANY, 2, PROT_EXEC, 0),
	/* The daemon makes threads and snapshots; nothing makes namespaces. */
	HAS(clone, D, 0, THREAD, THREAD),
	IS(clone, D | F, 0, FORK),
	IS(prctl, D, 0, PR_SET_PDEATHSIG),
	IS(prctl, D, 0, PR_SET_NO_NEW_PRIVS),
	IS(prctl, D, 0, PR_SET_SECCOMP),
	HAS(clone, M | L, 0, NAMESPACES, 0),
	IS(socket, D | M, 0, AF_UNIX),
	IS(socketpair, D | M, 0, AF_UNIX),
	IS(kill, M | F, 1, SIGKILL), /* helpers stopped by their users, readers that wait */
	IS(kill, D, 1, 0),
	IS(ioctl, ALL, 1, TCGETS), /* isatty() of stdio */
	IS(prctl, ALL, 0, PR_SET_NAME),
	IS(prctl, ALL, 0, PR_GET_NAME),
	IS(prctl, ALL, 0, 0x53564d41), /* PR_SET_VMA, by allocators */
	BPF(BPF_MAP_CREATE, D),
	BPF(BPF_MAP_LOOKUP_ELEM, D),
	BPF(BPF_MAP_UPDATE_ELEM, D),
	BPF(BPF_MAP_DELETE_ELEM, D),
	BPF(BPF_MAP_GET_NEXT_KEY, D),
	BPF(BPF_MAP_LOOKUP_BATCH, D),
	BPF(BPF_MAP_DELETE_BATCH, D),
	BPF(BPF_MAP_FREEZE, D),
	BPF(BPF_PROG_LOAD, D),
	BPF(BPF_PROG_BIND_MAP, D),
	BPF(BPF_BTF_LOAD, D),
	BPF(BPF_BTF_GET_NEXT_ID, D),
	BPF(BPF_BTF_GET_FD_BY_ID, D),
	BPF(BPF_OBJ_GET, D),
	BPF(BPF_OBJ_PIN, D),
	BPF(BPF_OBJ_GET_INFO_BY_FD, D),
	BPF(BPF_RAW_TRACEPOINT_OPEN, D),
	BPF(BPF_LINK_CREATE, D | L),
	BPF(NO_BPF_COMMAND, D),
};

static const unsigned role_is[] = {
	[SCRIBE_PROCESS_DAEMON] = D,       [SCRIBE_PROCESS_ADMIN] = D,
	/* A filter is inherited, so a spawner's includes the calls of its helpers. */
	[SCRIBE_PROCESS_SPAWNER] = M | H | R | P, [SCRIBE_PROCESS_RUN_SPAWNER] = M | H | R | P,
	[SCRIBE_PROCESS_LINKER] = L,
	[SCRIBE_PROCESS_HELPER] = H | R,	     [SCRIBE_PROCESS_READER] = R,
	[SCRIBE_PROCESS_ROOT_HELPER] = H | R | P,
	[SCRIBE_PROCESS_SNAPSHOT] = S,	     [SCRIBE_PROCESS_PROCFS] = F,
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static bool is_allowed(int call, unsigned who)
{
	/* libseccomp refuses a rule with arguments beside one without for the same call. */
	for (size_t i = 0; i < N(table); i++)
		if (table[i].call == call && table[i].who & who)
			return true;
	return false;
}

static int allow(scmp_filter_ctx filter, unsigned who)
{
	int rc = 0;

		/* A negative number: this architecture lacks the call. */
	for (size_t i = 0; i < N(table) && rc == 0; i++)
		if (table[i].who & who && table[i].call >= 0)
			rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, table[i].call, 0);
	for (size_t i = 0; i < N(arguments) && rc == 0; i++)
		if (arguments[i].who & who && arguments[i].call >= 0 && !is_allowed(arguments[i].call, who))
			rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, arguments[i].call, 1, &arguments[i].is);
	/* A filter cannot see the flags of clone3: with ENOSYS the C library uses clone. */
	if (rc == 0 && who & (D | M | L | F))
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

static int own_socket = 3; /* for reports */
static bool is_helper;                    /* exits at the first refused call */
static bool is_daemon;                    /* prints reports itself */
static unsigned char refused[CALLS_MAX]; /* 1: to be printed, 2: printed */
static volatile sig_atomic_t any_refused;

static int error_of(int call)
{
	for (size_t i = 0; i < N(arguments); i++)
		if (arguments[i].call == call)
			return EPERM;
	return ENOSYS;
}

/* Result of the interrupted system call after the handler returns. */
static void set_result(ucontext_t *at, long result)
{
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	at->uc_mcontext.regs[0] = (unsigned long long)result;
#else
#error "where a system call's result stands"
#endif
}

/* Async-signal-safe: only send() and plain stores. The daemon prints later, in scribe_calls_report(). */
static void on_refused(int number, siginfo_t *info, void *context)
{
	struct scribe_refused_call report = {SCRIBE_REFUSED_CALL, info->si_syscall};
	int call = info->si_syscall, error = errno;

	(void)number;
	/* A SIGSYS that is not from seccomp gets the default action. */
	if (info->si_code != 1 /* SYS_SECCOMP */) {
		signal(SIGSYS, SIG_DFL);
		return;
	}
	if (is_daemon && call >= 0 && call < CALLS_MAX && !refused[call]) {
		refused[call] = 1;
		any_refused = 1;
	}
	if (!is_daemon)
		(void)send(own_socket, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (is_helper)
		_exit(128 + SIGSYS);
	errno = error;
	set_result(context, -error_of(call));
}

static void say(const char *whom, int call)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);

	fprintf(stderr, "ioscribed: %s made a system call that is not on its list, which was not done: %s (%d)\n",
		whom, name ? name : "?", call);
	free(name);
}

void scribe_calls_socket(int sock)
{
	own_socket = sock;
}

void scribe_refused_calls_add(const struct scribe_refused_call *report)
{
	static unsigned said;

	/* A compromised helper can send any number of reports. */
	if (said < 100)
		say("a helper", report->call);
	said++;
}

void scribe_calls_report(void)
{
	if (!any_refused)
		return;
	any_refused = 0;
	for (int call = 0; call < CALLS_MAX; call++)
		if (refused[call] == 1) {
			refused[call] = 2;
			say("the daemon", call);
		}
}

static struct sock_fprog made[N(role_is)];

/* libseccomp writes it to a descriptor: a socket's, because files have a limit (RLIMIT_FSIZE). */
static int export(scmp_filter_ctx filter, struct sock_fprog *ret_made)
{
	struct sock_filter code[BPF_MAXINSNS];
	ssize_t bytes = 0;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	rc = seccomp_export_bpf(filter, pair[1]);
	if (rc == 0)
		bytes = read(pair[0], code, sizeof(code));
	close(pair[0]);
	close(pair[1]);
	if (rc < 0)
		return rc;
	ret_made->filter = bytes > 0 ? malloc((size_t)bytes) : NULL;
	if (!ret_made->filter)
		return -ENOMEM;
	memcpy(ret_made->filter, code, (size_t)bytes);
	ret_made->len = (unsigned short)((size_t)bytes / sizeof(code[0]));
	return 0;
}

int scribe_calls_prepare(enum scribe_process_role role)
{
	scmp_filter_ctx filter;
	int rc;

	if (made[role].filter)
		return 0;
	/* TRAP instead of ERRNO: only the signal makes a refused call visible. */
	filter = seccomp_init(SCMP_ACT_TRAP);
	rc = filter ? 0 : -ENOMEM;
	/* A binary tree instead of a list; older libraries lack it. */
	if (rc == 0)
		(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc == 0)
		rc = allow(filter, role_is[role]);
	if (rc == 0)
		rc = export(filter, &made[role]);
	if (filter)
		seccomp_release(filter);
	/* A helper may become a reader, and may not make a socket then. */
	return rc == 0 && role == SCRIBE_PROCESS_HELPER ? scribe_calls_prepare(SCRIBE_PROCESS_READER) : rc;
}

int scribe_calls_filter(enum scribe_process_role role)
{
	struct sigaction a = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
	sigset_t none;
	int rc;

	is_daemon = role_is[role] & D;
	is_helper = !(role_is[role] & (D | M | L | F));
	sigemptyset(&none);
	sigaddset(&none, SIGSYS);
	if (sigaction(SIGSYS, &a, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &none, NULL) < 0)
		return -errno;
	rc = scribe_calls_prepare(role);
	/* The caller has set no_new_privs. By prctl: the unit's @system-service is without seccomp(2). */
	if (rc == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &made[role]) < 0)
		rc = -errno;
	return rc;
}
