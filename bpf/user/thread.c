// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread of the loader's: a small stack, and all signals blocked, so that they are delivered to
 * the main thread. Used for the grower and for calls that wait for the kernel. Must not know what
 * it does.
 */
#include <signal.h>

#include "bpf/user/load_private.h"

int scribe_thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	sigfillset(&all);
	sigdelset(&all, SIGSYS); /* a call that is not allowed must come back as an error */
	pthread_attr_setstacksize(&attr, SCRIBE_THREAD_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
	rc = pthread_create(ret_thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}
