// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads of the loader, with all signals left to the main thread: the grower, and calls that wait for the
 * kernel. Must not know what they do.
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
	sigdelset(&all, SIGSYS); /* a forbidden call must return as an error */
	pthread_attr_setstacksize(&attr, SCRIBE_THREAD_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits the mask */
	rc = pthread_create(ret_thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}
