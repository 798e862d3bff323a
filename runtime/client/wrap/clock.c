/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CLOCK_MONOTONIC by the processor's counter where it is steady, and what remains in a sealed program. Each
 * thread calibrates every ms, so that reading costs no call. Must not know: streams.
 */
#include "runtime/client/wrap/clock.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/client/wrap/seccomp.h"

static uint64_t last_ns; /* last reading of any thread, for when no clock is allowed */

static uint64_t seen(const struct timespec *ts)
{
	uint64_t ns = scribe_clock_initial_ns(ts);

	__atomic_store_n(&last_ns, ns, __ATOMIC_RELAXED);
	return ns;
}

uint64_t scribe_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return seen(&ts);
}

/* The C library's clock reads the counter. */
static uint64_t clock_of_kernel(void)
{
	struct timespec ts;

	return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts) == 0 ? seen(&ts) : last_ns;
}

#ifdef __x86_64__
#include <cpuid.h>

#define ANCHOR_NS   1000000ull /* validity of a calibration */
#define READ_CYCLES 2000ull    /* a slower reading was interrupted; half of it is the anchor's error */

static __thread struct {
	uint64_t ticks, ns;             /* latest */
	uint64_t first_ticks, first_ns; /* base for the speed */
	uint64_t span, speed;           /* ticks of validity; ns << 32 per tick, 0: not known */
} anchor __attribute__((tls_model("initial-exec")));

/* 1: "invariant TSC"; -1: not. */
static int steady;

static uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t anchor_anew(void)
{
	/* The clock is read between two counter values: their distance shows an interruption. */
	const uint64_t before = ticks_now(), ns = scribe_clock_ns(), took = ticks_now() - before;
	const uint64_t ticks = before + took / 2;

	if (!steady) {
		unsigned a, b, c, d = 0;

		steady = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8) ? 1 : -1;
	}
	if (steady < 0 || took > READ_CYCLES)
		return ns;
	if (!anchor.first_ticks || ticks < anchor.first_ticks) {
		anchor.first_ticks = ticks;
		anchor.first_ns = ns;
		anchor.speed = 0;
	} else if (ns - anchor.first_ns >= ANCHOR_NS) {
		double speed = (double)(ns - anchor.first_ns) / (double)(ticks - anchor.first_ticks);

		anchor.speed = (uint64_t)(speed * 4294967296.0);
		anchor.span = (uint64_t)((double)ANCHOR_NS / speed);
	}
	anchor.ticks = ticks;
	anchor.ns = ns;
	return ns;
}

static uint64_t by_counter(void)
{
	uint64_t now = ticks_now();

	/* Seconds may pass between two readings: extrapolate with the last speed. */
	anchor.ns += (uint64_t)(((unsigned __int128)(now - anchor.ticks) * anchor.speed) >> 32);
	anchor.ticks = now;
	return anchor.ns;
}

static uint64_t sealed_now(unsigned seal)
{
	if (!(seal & SCRIBE_SECCOMP_CALLS))
		return clock_of_kernel();
	/* Calls are forbidden: the counter, or else the last known time, which stops. */
	if (!(seal & SCRIBE_SECCOMP_COUNTER) && anchor.speed)
		return by_counter();
	return anchor.ns ? anchor.ns : last_ns;
}

bool scribe_clock_stands(void)
{
	return (scribe_seccomp & SCRIBE_SECCOMP_CALLS) && ((scribe_seccomp & SCRIBE_SECCOMP_COUNTER) || !anchor.speed);
}

uint64_t scribe_stream_now(void)
{
	unsigned seal = scribe_seccomp;
	uint64_t gone;

	if (__builtin_expect(seal & (SCRIBE_SECCOMP_CALLS | SCRIBE_SECCOMP_COUNTER), 0))
		return sealed_now(seal);
	if (!anchor.speed)
		return steady < 0 ? scribe_clock_ns() : anchor_anew();
	gone = ticks_now() - anchor.ticks;
	if (gone >= anchor.span)
		return anchor_anew();
	return anchor.ns + (gone * anchor.speed >> 32);
}
#else
bool scribe_clock_stands(void)
{
	return scribe_seccomp & SCRIBE_SECCOMP_CALLS;
}

uint64_t scribe_stream_now(void)
{
	if (scribe_clock_stands())
		return last_ns;
	return scribe_seccomp & SCRIBE_SECCOMP_COUNTER ? clock_of_kernel() : scribe_clock_ns();
}
#endif
