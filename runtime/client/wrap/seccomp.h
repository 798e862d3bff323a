/* SPDX-License-Identifier: BSD-3-Clause */
/* Under restrictions (seccomp, trapping counter) counting continues in memory alone; nothing new starts. */
#ifndef RUNTIME_CLIENT_WRAP_SECCOMP_H
#define RUNTIME_CLIENT_WRAP_SECCOMP_H

#include <stdbool.h>

enum scribe_seccomp {
	SCRIBE_SECCOMP_CALLS = 1u << 0,   /* a system call of ours may end the program */
	SCRIBE_SECCOMP_COUNTER = 1u << 1, /* reading the processor's counter or the C library's clock, too */
	SCRIBE_SECCOMP_LOOKED = 1u << 7,  /* inherited ones are included */
};

/* Of any thread, taken for all. Read only. */
extern volatile unsigned scribe_seccomp __attribute__((visibility("hidden")));

/* With inherited ones, looked up once on demand. */
unsigned scribe_seccomp_known(void);

/* Now and at any later time. */
static inline bool scribe_may_call(void)
{
	unsigned seal = scribe_seccomp;

	if (__builtin_expect(!(seal & (SCRIBE_SECCOMP_LOOKED | SCRIBE_SECCOMP_CALLS)), 0))
		seal = scribe_seccomp_known();
	return !(seal & SCRIBE_SECCOMP_CALLS);
}

#endif
