// SPDX-License-Identifier: BSD-3-Clause
/*
 * The daemon's second thread: adds memory while the main thread is busy, as when it attaches to a library and
 * programs create thousands of files. Woken through a ring buffer, ended by an event descriptor. Must not know
 * what it adds.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

static void *grow_when_asked(void *arg)
{
	struct scribe_bpf *b = arg;
	struct pollfd p[] = {{.fd = b->asked.fd, .events = POLLIN}, {.fd = b->stop_fd, .events = POLLIN}};

	while (poll(p, 2, -1) > 0 && !p[1].revents) {
		/* Requests are empty: the maps show what runs low. */
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
	/* cannot block: the counter is 0 */
	if (write(b->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(b->grower, NULL);
	close(b->stop_fd);
	b->grows = false;
}
