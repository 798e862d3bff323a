/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a process shares with the daemon: made and handed over. Must not
 * know: what is counted in it.
 */
#include "runtime/client/wrap/shared_memory.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/client/process/daemon_link.h"

#define SEND_MS 200 /* most time to hand the memory to the daemon; its answer is not waited for */

struct scribe_shm_counters *scribe_shm_counters_make(uint64_t id, uint64_t now)
{
	struct scribe_shm_counters *m = MAP_FAILED;
	struct scribe_msg_streams hello = {.id = (uint32_t)id, .made_ns = now};
	int64_t deadline = scribe_msg_now_ms() + SEND_MS;
	struct scribe_link link;
	int fd;

	fd = scribe_fd_high(
		(int)syscall(SYS_memfd_create, "ioscribe-streams", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return NULL;
	if (ftruncate(fd, sizeof(*m)) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m != MAP_FAILED) {
		m->magic = SCRIBE_SHM_COUNTERS_MAGIC;
		m->id = (uint32_t)id;
		m->made_ns = now;
		if (scribe_link_open(&link, deadline) < 0 ||
		    scribe_link_say_streams(&link, &hello, fd, deadline) < 0) {
			munmap(m, sizeof(*m));
			m = MAP_FAILED;
		}
		scribe_link_close(&link);
	}
	close(fd);
	return m == MAP_FAILED ? NULL : m;
}
