// SPDX-License-Identifier: BSD-3-Clause
/*
 * Map calls without losses for other tasks: if a task is preempted inside one, its processor skips tracing
 * programs of all tasks meanwhile. On kernels that preempt it gets real-time priority for the call. Both
 * threads. Must not know what maps hold.
 */
#include "bpf/user/map_calls.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "bpf/user/levels.h"

#define PRIORITY 1 /* lowest of all real-time priorities */

void scribe_map_calls_allow(bool allow)
{
	/* The limit permits raising without a capability; 0 takes that from other processes of the daemon. */
	rlim_t most = allow && scribe_bpf_may_preempt() ? PRIORITY : 0;
	struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

	(void)setrlimit(RLIMIT_RTPRIO, &limit);
}

/* Returns the previous policy; -1: not raised. */
static int raise_priority(struct sched_param *ret_before)
{
	static int wanted = -1;
	const struct sched_param param = {.sched_priority = PRIORITY};
	int policy;

	if (wanted < 0)
		wanted = scribe_bpf_may_preempt();
	if (!wanted)
		return -1;
	policy = sched_getscheduler(0);
	if (policy < 0 || policy == SCHED_FIFO || policy == SCHED_RR || sched_getparam(0, ret_before) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		return -1;
	return policy;
}

static void lower_priority(int policy, const struct sched_param *before)
{
	int error = errno;

	if (policy >= 0)
		(void)sched_setscheduler(0, policy, before);
	errno = error;
}

#define UNDISTURBED(call) \
	do { \
		struct sched_param before; \
		int policy = raise_priority(&before), ret = (call); \
\
		lower_priority(policy, &before); \
		return ret; \
	} while (0)

int scribe_map_lookup(int fd, const void *key, void *ret_value)
{
	UNDISTURBED(bpf_map_lookup_elem(fd, key, ret_value));
}

int scribe_map_update(int fd, const void *key, const void *value, uint64_t flags)
{
	UNDISTURBED(bpf_map_update_elem(fd, key, value, flags));
}

int scribe_map_delete(int fd, const void *key)
{
	UNDISTURBED(bpf_map_delete_elem(fd, key));
}

int scribe_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, uint32_t *count)
{
	UNDISTURBED(bpf_map_lookup_batch(fd, in, out, keys, values, count, NULL));
}

int scribe_map_delete_batch(int fd, const void *keys, uint32_t *count)
{
	UNDISTURBED(bpf_map_delete_batch(fd, keys, count, NULL));
}
