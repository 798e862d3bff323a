/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program has forbidden itself, or was begun with: seccomp, a counter that traps. What
 * is counted goes on being counted, by memory alone; nothing new is begun.
 */
#ifndef RUNTIME_CLIENT_WRAP_SEAL_H
#define RUNTIME_CLIENT_WRAP_SEAL_H

#include <stdbool.h>

enum scribe_seal {
	SCRIBE_SEAL_CALLS = 1u << 0,   /* a system call of ours may end the program */
	SCRIBE_SEAL_COUNTER = 1u << 1, /* so may a look at the processor's counter, or at the C library's clock */
	SCRIBE_SEAL_LOOKED = 1u << 7,  /* what it was begun with is among these */
};

/* enum scribe_seal, of any thread: what one has forbidden itself is taken for all. Only ever read here. */
extern volatile unsigned scribe_seal __attribute__((visibility("hidden")));

/* The same, what the process was begun with among it: looked for once, when it is first wanted. */
unsigned scribe_seal_known(void);

/* May we ask the kernel, now and at any later time? */
static inline bool scribe_may_call(void)
{
	unsigned seal = scribe_seal;

	if (__builtin_expect(!(seal & (SCRIBE_SEAL_LOOKED | SCRIBE_SEAL_CALLS)), 0))
		seal = scribe_seal_known();
	return !(seal & SCRIBE_SEAL_CALLS);
}

#endif
