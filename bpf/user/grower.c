// SPDX-License-Identifier: BSD-3-Clause
/*
 * The daemon's second thread: it adds what runs low, whatever the main thread is doing: while a
 * library is attached to, programs make thousands of files. Kernel programs wake it by a ring
 * buffer of its own; an event descriptor ends it. It is started when the sandbox is in force, and
 * again for each adopted object. struct scribe_bpf owns thread and descriptor. Must not know what
 * it adds.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

/* The requests are discarded: what is to be done follows from the maps. */
static void *grow_when_asked(void *arg)
{
	struct scribe_bpf *b = arg;
	struct pollfd p[] = {{.fd = b->asked.fd, .events = POLLIN}, {.fd = b->stop_fd, .events = POLLIN}};

	while (poll(p, 2, -1) > 0 && !p[1].revents) {
		/* what is asked for is always the same */
		__atomic_store_n(b->asked.consumer, __atomic_load_n(b->asked.producer, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
		(void)scribe_bpf_grow_value_tables(b);
	}
	return NULL;
}

void scribe_bpf_keep_growing(struct scribe_bpf *b)
{
	if (b->grows || !b->asked.consumer)
		return;
	b->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (b->stop_fd < 0)
		return;
	b->grows = scribe_thread_start(&b->grower, grow_when_asked, b) == 0;
	if (!b->grows)
		close(b->stop_fd);
}

void scribe_grower_stop(struct scribe_bpf *b)
{
	const uint64_t one = 1;

	if (!b->grows)
		return;
	/* it cannot be full */
	if (write(b->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(b->grower, NULL);
	close(b->stop_fd);
	b->grows = false;
}
