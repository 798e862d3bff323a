/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that restrict themselves: prctl, syscall and setns are interposed; before the library is ready they
 * are bare system calls. `scribe_seccomp` is set before the restricting call. Must not know: streams, daemon.
 */
#include "runtime/client/wrap/seccomp.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/proto.h"
#include "runtime/client/process/compat.h"
#include "runtime/client/process/inherited.h"

#define EXPORT __attribute__((visibility("default")))
#define BOTH   (SCRIBE_SECCOMP_CALLS | SCRIBE_SECCOMP_COUNTER) /* strict mode also restricts the counter */

volatile unsigned scribe_seccomp;

static int (*next_prctl)(int, ...);
static long (*next_syscall)(long, ...);
static int (*next_setns)(int, int);

static long bare(long n, const long a[6])
{
	long rc;

#ifdef __x86_64__
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "0"(n), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];
	register long x8 __asm__("x8") = n;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	rc = x0;
#else
#error "system calls of this processor"
#endif
	if (rc < 0 && rc > -4096) {
		errno = (int)-rc;
		return -1;
	}
	return rc;
}

static unsigned seals(long n, long what, long how)
{
	if (n == SYS_prctl && what == PR_SET_SECCOMP)
		return how == SECCOMP_MODE_STRICT ? BOTH : SCRIBE_SECCOMP_CALLS;
	if (n == SYS_prctl && what == PR_SET_TSC)
		return how == PR_TSC_SIGSEGV ? SCRIBE_SECCOMP_COUNTER : 0;
	if (n == SYS_seccomp && what == SECCOMP_SET_MODE_STRICT)
		return BOTH;
	return n == SYS_seccomp && what == SECCOMP_SET_MODE_FILTER ? SCRIBE_SECCOMP_CALLS : 0;
}

/* Before the call, which may allow nothing afterwards. Returns what it added. */
static unsigned begin(unsigned sealing)
{
	return sealing ? sealing & ~__atomic_fetch_or(&scribe_seccomp, sealing, __ATOMIC_SEQ_CST) : 0;
}

static void end(unsigned added, long rc)
{
	/* The restriction failed: take it back. */
	if (added && rc < 0)
		__atomic_fetch_and(&scribe_seccomp, ~added, __ATOMIC_SEQ_CST);
}

static void entered(long type, long rc)
{
	int kept = errno;

	/* Perhaps another time namespace (type 0: any), with another clock offset. */
	if (rc == 0 && (!type || type & CLONE_NEWTIME) && scribe_may_call())
		scribe_clock_calibrate();
	errno = kept;
}

EXPORT int prctl(int what, ...);
EXPORT int prctl(int what, ...)
{
	unsigned added;
	va_list list;
	long a[6] = {what};
	int rc;

	va_start(list, what);
	for (int i = 1; i < 5; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	added = begin(seals(SYS_prctl, what, a[1]));
	rc = next_prctl ? next_prctl(what, a[1], a[2], a[3], a[4]) : (int)bare(SYS_prctl, a);
	end(added, rc);
	return rc;
}

EXPORT long syscall(long n, ...);
EXPORT long syscall(long n, ...)
{
	unsigned added;
	va_list list;
	long a[6], rc;

	va_start(list, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	added = begin(seals(n, a[0], a[1]));
	rc = next_syscall ? next_syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]) : bare(n, a);
	end(added, rc);
	if (n == SYS_setns)
		entered(a[1], rc);
	return rc;
}

EXPORT int setns(int fd, int type);
EXPORT int setns(int fd, int type)
{
	const long a[6] = {fd, type};
	int rc = next_setns ? next_setns(fd, type) : (int)bare(SYS_setns, a);

	entered(type, rc);
	return rc;
}

/*
 * Valgrind copies the probe's breakpoint at our site and the program dies of SIGTRAP. Its client request:
 * rotations without effect, result in RDX.
 */
static bool below_valgrind(void)
{
#ifdef __x86_64__
	const uint64_t ask[6] = {0x1001}; /* VG_USERREQ__RUNNING_ON_VALGRIND */
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(ask)
			 : "rdi", "cc", "memory");
	return answer;
#else
	return false;
#endif
}

unsigned scribe_seccomp_known(void)
{
	unsigned seal = scribe_seccomp;

	if (!(seal & (SCRIBE_SECCOMP_LOOKED | SCRIBE_SECCOMP_CALLS))) {
		int kept = errno;

		seal = SCRIBE_SECCOMP_LOOKED;
		if (scribe_inherited_filter() || below_valgrind())
			seal |= SCRIBE_SECCOMP_CALLS;
		seal |= __atomic_fetch_or(&scribe_seccomp, seal, __ATOMIC_SEQ_CST);
		errno = kept;
	}
	return seal;
}

/* At load: a child of vfork must not look names up. */
__attribute__((constructor)) static void start(void)
{
	next_prctl = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
	next_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	next_setns = (int (*)(int, int))dlsym(RTLD_NEXT, "setns");
}
