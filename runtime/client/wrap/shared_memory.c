/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory shared with the daemon, which creates it. Mapped until the process ends; a forked child gets another.
 * Must not know: what it counts.
 */
#include "runtime/client/wrap/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/client/process/daemon_link.h"

#define ASK_MS 200 /* longest wait */

struct scribe_shm_counters *scribe_shm_counters_get(uint64_t id, uint64_t now)
{
	const struct scribe_msg_streams ask = {.id = (uint32_t)id, .made_ns = now};
	int64_t deadline = scribe_msg_now_ms() + ASK_MS;
	struct scribe_shm_counters *m = MAP_FAILED;
	struct scribe_link link;
	int fd = -1;

	if (scribe_link_open(&link, deadline) == 0)
		fd = scribe_link_streams(&link, &ask, deadline);
	scribe_link_close(&link);
	if (fd < 0)
		return NULL;
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return m == MAP_FAILED ? NULL : m;
}
