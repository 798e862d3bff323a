/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Giving up privileges. Must not know jobs or logs.
 */
#include "bpf/load.h"
#include "bpf/map_calls.h"
#include "runtime/daemon/confine.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

static const int kept_by_daemon[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, -1};
static const int kept_by_admin[] = {CAP_BPF,		    CAP_PERFMON, CAP_SYS_PTRACE,
				    CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN, -1};
static const int kept_by_maker[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE, -1};
static const int kept_by_run_maker[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE, CAP_DAC_OVERRIDE, -1};
static const int kept_by_hand[] = {-1};
static const int kept_by_root_hand[] = {CAP_SYS_PTRACE, CAP_DAC_OVERRIDE, -1};

static const int *const kept[] = {
	[SCRIBE_PART_DAEMON] = kept_by_daemon,       [SCRIBE_PART_ADMIN] = kept_by_admin,
	[SCRIBE_PART_MAKER] = kept_by_maker,
	[SCRIBE_PART_RUN_MAKER] = kept_by_run_maker, [SCRIBE_PART_HAND] = kept_by_hand,
	[SCRIBE_PART_READER] = kept_by_hand,	 [SCRIBE_PART_ROOT_HAND] = kept_by_root_hand,
};

/* Nobody here starts programs, changes what is mounted, loads code or looks into another's memory by force.
 */
static const int refused_to_all[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsmount),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(quotactl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(syslog),
	SCMP_SYS(personality),
	SCMP_SYS(vhangup),
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(lookup_dcookie),
};

/* A hand has its one socket and its user's files, and nothing to do with the network or the kernel. */
static const int refused_to_hands[] = {
	SCMP_SYS(bpf),       SCMP_SYS(perf_event_open),
	SCMP_SYS(socket),    SCMP_SYS(socketpair),
	SCMP_SYS(connect),   SCMP_SYS(bind),
	SCMP_SYS(listen),    SCMP_SYS(accept),
	SCMP_SYS(accept4),   SCMP_SYS(fork),
	SCMP_SYS(vfork),     SCMP_SYS(clone3),
	SCMP_SYS(clone),     SCMP_SYS(tgkill),
	SCMP_SYS(fsetxattr), SCMP_SYS(lsetxattr),
	SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
	SCMP_SYS(fremovexattr), SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kill),      SCMP_SYS(tkill),
	SCMP_SYS(setuid),    SCMP_SYS(setgid),
	SCMP_SYS(setresuid), SCMP_SYS(setresgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(chown),     SCMP_SYS(fchown),
	SCMP_SYS(lchown),    SCMP_SYS(fchownat),
	SCMP_SYS(setxattr),
};

/* What reading takes: ELF files, patterns, directories, /proc; and answering. No file is made or changed. */
static const int allowed_to_readers[] = {
	SCMP_SYS(read),	      SCMP_SYS(pread64),	 SCMP_SYS(readv),      SCMP_SYS(lseek),
	SCMP_SYS(close),      SCMP_SYS(fstat),	 SCMP_SYS(newfstatat), SCMP_SYS(stat),
	SCMP_SYS(lstat),      SCMP_SYS(statx),	 SCMP_SYS(openat2),    SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(access),	    SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(fcntl),	 SCMP_SYS(dup),	       SCMP_SYS(getxattr),
	SCMP_SYS(fgetxattr),  SCMP_SYS(lgetxattr),	 SCMP_SYS(getcwd),     SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),    SCMP_SYS(sendto),	 SCMP_SYS(recvfrom),   SCMP_SYS(poll),
	SCMP_SYS(ppoll),      SCMP_SYS(mmap),	 SCMP_SYS(munmap),     SCMP_SYS(mremap),
	SCMP_SYS(mprotect),   SCMP_SYS(madvise),	 SCMP_SYS(brk),	       SCMP_SYS(futex),
	SCMP_SYS(getrandom),  SCMP_SYS(getrusage),	 SCMP_SYS(setrlimit),  SCMP_SYS(prlimit64),
	SCMP_SYS(getpid),     SCMP_SYS(geteuid),	 SCMP_SYS(getuid),     SCMP_SYS(gettid),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(write),
	SCMP_SYS(exit),	      SCMP_SYS(exit_group), SCMP_SYS(uname),      SCMP_SYS(sysinfo),
};

/* Files are opened for reading alone; openat2, whose flags a filter cannot see, is for names (look.h). */
static int allow_reading(scmp_filter_ctx filter)
{
	const scmp_datum_t changes = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	int rc = 0;

	for (size_t i = 0; i < sizeof(allowed_to_readers) / sizeof(allowed_to_readers[0]) && rc == 0; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_to_readers[i], 0);
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, changes, 0));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
				      SCMP_A1(SCMP_CMP_MASKED_EQ, changes, 0));
	return rc;
}

static int refuse_calls(scmp_filter_ctx filter, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	return rc;
}

static int filter_calls(enum scribe_part part)
{
	const bool reads = part == SCRIBE_PART_READER;
	scmp_filter_ctx filter = seccomp_init(reads ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
	int rc = filter ? 0 : -ENOMEM;

	if (rc == 0 && reads)
		rc = allow_reading(filter);
	else if (rc == 0)
		rc = refuse_calls(filter, refused_to_all, sizeof(refused_to_all) / sizeof(refused_to_all[0]));
	if (rc == 0 && part >= SCRIBE_PART_HAND && !reads)
		rc = refuse_calls(filter, refused_to_hands,
				  sizeof(refused_to_hands) / sizeof(refused_to_hands[0]));
	if (rc == 0)
		rc = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return rc;
}

/* kernel.perf_event_paranoid above 2, as Debian has it, leaves trace events to CAP_SYS_ADMIN alone. */
static bool events_are_admins(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoid = 0;

	if (f && fscanf(f, "%d", &paranoid) != 1)
		paranoid = 0;
	if (f)
		fclose(f);
	return paranoid > 2;
}

static int drop_capabilities(enum scribe_part part)
{
	const int *keep = kept[part];
	bool had[64] = {false}, admin;

	for (const int *c = keep; *c >= 0; c++)
		had[*c] = capng_have_capability(CAPNG_PERMITTED, (unsigned)*c) == 1;
	/* a container may have the one of old for what two newer ones allow */
	admin = part == SCRIBE_PART_DAEMON &&
		(!(had[CAP_BPF] && had[CAP_PERFMON]) || (scribe_bpf_uses_events() && events_are_admins())) &&
		capng_have_capability(CAPNG_PERMITTED, CAP_SYS_ADMIN) == 1;
	capng_clear(CAPNG_SELECT_BOTH);
	if (admin)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, CAP_SYS_ADMIN);
	for (const int *c = keep; *c >= 0; c++)
		if (had[*c])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
				     (unsigned)*c);
	/* the bounding set needs CAP_SETPCAP, which a container's root may lack */
	(void)capng_apply(CAPNG_SELECT_BOUNDS);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int scribe_confine(enum scribe_part part, struct scribe_err *err)
{
	int rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return scribe_err_set(err, -errno, "cannot refuse new privileges: %s", strerror(errno));
	scribe_map_calls_allow(part == SCRIBE_PART_DAEMON || part == SCRIBE_PART_ADMIN);
	rc = drop_capabilities(part);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot drop capabilities");
	rc = filter_calls(part);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot filter system calls: %s", strerror(-rc));
	return 0;
}
