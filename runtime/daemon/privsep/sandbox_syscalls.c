// SPDX-License-Identifier: BSD-3-Clause
/*
 * The system calls that each of the daemon's processes may make: one table of names, for every
 * architecture (what one of them does not have is left out there), and one of what is allowed of
 * calls by their arguments. What does not stand here is not done: a helper ends and leaves the
 * call's number to the daemon; the daemon and the makers of helpers go on with an error, since the
 * C library of a newer system may try another call first, and the daemon's log names it. Must not
 * know what any of them does. A refused call raises SIGSYS (SECCOMP_RET_TRAP) in the process that
 * made it. Its handler runs on that process's thread; it reports the number and sets the result, or
 * ends the process.
 */
#include "runtime/daemon/privsep/sandbox_syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sched.h>
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

#define CALLS_MAX      1024 /* numbers above are not told apart */
#define NO_BPF_COMMAND 0x7fffffff /* of bpf/user/machine.c: tells whether any command is allowed */

/*
 * Who: the daemon; makers of helpers; a helper, which touches files as their user; a reader of
 * what users wrote; a helper of root's, which may look into processes; who makes links of probes; a
 * snapshot, which computes and writes.
 * The filter of a helper stands behind that of its maker, a reader's behind a helper's: what one
 * may the other may, too, and that is worked out below.
 */
enum { D = 1, M = 2, H = 4, R = 8, P = 16, L = 32, S = 64, ALL = D | M | H | R | P, ANY = ALL | L | S };

/* One letter a kind of process in the table below. */
struct allowed {
	int call;
	unsigned who;
};

#define CALL(name, who) {SCMP_SYS(name), who}

static const struct allowed table[] = {
	/* what is open already */
	CALL(read, ANY),
	CALL(readv, ALL | S),
	CALL(pread64, ANY),
	CALL(write, ANY),
	CALL(writev, ALL | S), /* a C library's last words */
	CALL(pwrite64, D | H | S),
	CALL(lseek, ALL | S),
	CALL(close, ANY),
	CALL(fstat, ALL | S),
	CALL(fcntl, ALL | S),
	CALL(dup, ALL),
	CALL(dup2, D | M),
	CALL(dup3, D | M),
	CALL(close_range,
	     D | M), /* a helper begins with its socket alone, as a thread that waits in the kernel does */
	CALL(ftruncate, D | H | S),
	CALL(fallocate, D | H), /* journals */
	CALL(fsync, D | H),
	CALL(fdatasync, D | H),
	CALL(flock, D | H),
	CALL(sendfile, D), /* the copy of the program that a journal's build is */
	/* looking at names */
	CALL(stat, ALL),
	CALL(lstat, ALL),
	CALL(newfstatat, ALL | S),
	CALL(statx, ALL),
	CALL(access, ALL),
	CALL(faccessat, ALL),
	CALL(faccessat2, ALL),
	CALL(readlink, ALL),
	CALL(readlinkat, ALL),
	CALL(getdents64, ALL),
	CALL(getcwd, ALL),
	CALL(statfs, D | H),
	CALL(fstatfs, D | H | R),
	CALL(getxattr, H | R), /* how files are striped */
	CALL(fgetxattr, H | R),
	CALL(lgetxattr, H | R),
	CALL(open, D | M | H),
	CALL(openat, D | M | H),
	CALL(openat2, D | H | R), /* names: never through a link of /proc, never above a root */
	/* making, naming and removing files: what is the daemon's own, logs of users */
	CALL(mkdir, D | H),
	CALL(mkdirat, D | H),
	CALL(rmdir, D | H),
	CALL(unlink, D | H),
	CALL(unlinkat, D | H),
	CALL(rename, D | H),
	CALL(renameat, D | H),
	CALL(renameat2, D | H),
	CALL(link, D | H), /* a log's name must not be another's, where renameat2 cannot say so */
	CALL(linkat, D | H),
	CALL(chmod, D | H), /* a finished log is read only */
	CALL(fchmod, D | H),
	CALL(fchmodat, D | H),
	CALL(umask, D | M | H),
	CALL(chdir, M | H),
	CALL(fchdir, M), /* into the root directory of the process whose log is written */
	CALL(chroot, M),
	CALL(chown, D), /* a private daemon's socket is its command's user's */
	CALL(fchownat, D),
	CALL(memfd_create, D | H), /* what is handed on */
	/* memory; makers alone load code: modules that know a user's groups */
	CALL(mmap, M),
	CALL(mprotect, M),
	CALL(munmap, ANY),
	CALL(mremap, ANY),
	CALL(madvise, ANY),
	CALL(brk, ANY),
	CALL(getrandom, ANY), /* the allocator's; names of temporary directories */
	/* talking */
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
	CALL(connect, M), /* who knows a user's groups: nscd, sssd, systemd */
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
	CALL(timerfd_create, M), /* systemd's module of groups */
	CALL(timerfd_settime, M),
	/* the thread itself */
	CALL(futex, ANY),
	CALL(set_robust_list, D | M | L),
	CALL(rseq, D | M | L),
	CALL(set_tid_address, D | M | L),
	CALL(membarrier, D), /* when no program runs any more that began before (bpf/user/traced_slots.c) */
	CALL(sched_yield, ANY),
	CALL(sched_getaffinity, ALL), /* how many processors there are */
	CALL(sched_getscheduler, D),  /* calls on maps are not to be preempted (bpf/user/map_calls.h) */
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
	CALL(setrlimit, ALL), /* downwards: nobody has CAP_SYS_RESOURCE */
	CALL(prlimit64, ALL),
	CALL(getrusage, ALL | S),
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
	CALL(setitimer, D | L), /* ends itself; the daemon: what it forks */
	/* other processes */
	CALL(wait4, D | M | L),
	CALL(waitid, D | M),
	CALL(pidfd_open, D), /* whose storage of the kernel programs is written when it is enrolled */
	CALL(process_vm_readv, P),
	/* becoming somebody, and giving up the rest */
	CALL(setsid, M),
	CALL(setgroups, M),
	CALL(setresgid, M),
	CALL(setresuid, M),
	CALL(capget, D | M | H),
	CALL(capset, D | M | H),
	CALL(seccomp, D | M | H),
	CALL(prctl, M | H),
	/* the kernel's programs */
	CALL(perf_event_open, D),
};

struct argument {
	int call;
	unsigned who;
	struct scmp_arg_cmp is;
};

/* As the kernel takes an int: what stands above it does not count. */
#define IS(name, who, n, value)       HAS(name, who, n, 0xffffffff, value)
#define HAS(name, who, n, mask, bits) {SCMP_SYS(name), who, SCMP_CMP(n, SCMP_CMP_MASKED_EQ, mask, bits)}
#define BPF(command, who)             IS(bpf, who, 0, command)
#define CHANGES                       (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define THREAD                        (CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define FORK                          (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
#define NAMESPACES                                                                                           \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP)

/* Where the table above has none for whom it is; any one of a call's lines is enough. */
static const struct argument arguments[] = {
	/* files are opened for reading alone; openat2, whose flags no filter sees, is for names (path_lookup.h) */
	HAS(openat, R | L, 2, CHANGES, 0),
	HAS(open, R | L, 1, CHANGES, 0),
	HAS(mmap, ANY, 2, PROT_EXEC, 0),
	HAS(mprotect, ANY, 2, PROT_EXEC, 0),
	/* threads and snapshots of the daemon's, processes of the makers', none in namespaces of their own */
	HAS(clone, D, 0, THREAD, THREAD),
	IS(clone, D, 0, FORK),
	IS(prctl, D, 0, PR_SET_PDEATHSIG),
	IS(prctl, D, 0, PR_SET_NO_NEW_PRIVS),
	IS(prctl, D, 0, PR_SET_SECCOMP), /* a service manager's filter may leave seccomp(2) out */
	HAS(clone, M | L, 0, NAMESPACES, 0),
	IS(socket, D | M, 0, AF_UNIX),
	IS(socketpair, D | M, 0, AF_UNIX),
	IS(kill, M, 1, SIGKILL), /* helpers that their users have stopped */
	IS(kill, D, 1, 0), /* whether the maker of an event is still there */
	IS(ioctl, ALL, 1, TCGETS), /* by which the C library asks what it writes to */
	IS(prctl, ALL, 0, PR_SET_NAME), /* that of a thread; bpf/user/preempt.c looks what happens then */
	IS(prctl, ALL, 0, PR_GET_NAME),
	IS(prctl, ALL, 0, 0x53564d41), /* PR_SET_VMA: an allocator names its memory */
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
	BPF(BPF_BTF_GET_NEXT_ID, D), /* types of modules, of which libbpf asks */
	BPF(BPF_BTF_GET_FD_BY_ID, D),
	BPF(BPF_OBJ_GET, D), /* pins */
	BPF(BPF_OBJ_PIN, D),
	BPF(BPF_OBJ_GET_INFO_BY_FD, D),
	BPF(BPF_RAW_TRACEPOINT_OPEN, D),
	BPF(BPF_LINK_CREATE, D | L),
	BPF(NO_BPF_COMMAND, D),
};

static const unsigned role_is[] = {
	[SCRIBE_PROCESS_DAEMON] = D,       [SCRIBE_PROCESS_ADMIN] = D,
	/* and what those may that they make */
	[SCRIBE_PROCESS_SPAWNER] = M | H | R | P, [SCRIBE_PROCESS_RUN_SPAWNER] = M | H | R | P,
	[SCRIBE_PROCESS_LINKER] = L,
	[SCRIBE_PROCESS_HELPER] = H | R,	     [SCRIBE_PROCESS_READER] = R,
	[SCRIBE_PROCESS_ROOT_HELPER] = H | R | P,
	[SCRIBE_PROCESS_SNAPSHOT] = S,
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

/*
 * In the first table, whatever the arguments. libseccomp refuses a rule with arguments beside one
 * without.
 */
static bool is_allowed(int call, unsigned who)
{
	for (size_t i = 0; i < N(table); i++)
		if (table[i].call == call && table[i].who & who)
			return true;
	return false;
}

/*
 * All rules of one kind of process. Calls that the architecture does not have are negative numbers
 * and left out.
 */
static int allow(scmp_filter_ctx filter, unsigned who)
{
	int rc = 0;

	for (size_t i = 0; i < N(table) && rc == 0; i++)
		if (table[i].who & who && table[i].call >= 0)
			rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, table[i].call, 0);
	for (size_t i = 0; i < N(arguments) && rc == 0; i++)
		if (arguments[i].who & who && arguments[i].call >= 0 && !is_allowed(arguments[i].call, who))
			rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, arguments[i].call, 1, &arguments[i].is);
	/* its flags are in memory: the C library takes clone then */
	if (rc == 0 && who & (D | M | L))
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

/* ---- what was refused ---- */

static int own_socket = 3; /* on which what was refused is told */
static bool is_helper;                    /* ends at the first */
static bool is_daemon;                    /* says it itself */
static unsigned char refused[CALLS_MAX]; /* 1: to be said, 2: has been */
static volatile sig_atomic_t any_refused;

/* Of one whose arguments are not among those above the caller is told so, of others that there is none. */
static int error_of(int call)
{
	for (size_t i = 0; i < N(arguments); i++)
		if (arguments[i].call == call)
			return EPERM;
	return ENOSYS;
}

/* What the interrupted system call returns when the handler has returned. */
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

/*
 * Async-signal-safe: send() and plain stores only. The daemon's own report waits in `refused` until
 * scribe_calls_report(), since printing is not allowed here. Another SIGSYS than seccomp's gets the
 * default action.
 */
static void on_refused(int number, siginfo_t *info, void *context)
{
	struct scribe_refused_call report = {SCRIBE_REFUSED_CALL, info->si_syscall};
	int call = info->si_syscall, error = errno;

	(void)number;
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

	/* a helper that a user has taken over may tell what it likes */
	if (said < 100)
		say("a helper", report->call);
	said++;
}

/* Each call once in the life of the daemon. Called by the event loop once a turn. */
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

/*
 * The handler is installed before the filter, which inherits to children; theirs stacks on top.
 * TRAP and not ERRNO: only so is a refused call noticed at all.
 */
int scribe_calls_filter(enum scribe_process_role role)
{
	struct sigaction a = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
	scmp_filter_ctx filter;
	sigset_t none;
	int rc;

	is_daemon = role_is[role] & D;
	is_helper = !(role_is[role] & (D | M | L));
	sigemptyset(&none);
	sigaddset(&none, SIGSYS);
	if (sigaction(SIGSYS, &a, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &none, NULL) < 0)
		return -errno;
	filter = seccomp_init(SCMP_ACT_TRAP);
	rc = filter ? 0 : -ENOMEM;
	/* refused already, by whoever has called us */
	if (rc == 0)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	/* a tree, not a list; an older library does without */
	if (rc == 0)
		(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc == 0)
		rc = allow(filter, role_is[role]);
	if (rc == 0)
		rc = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return rc;
}
