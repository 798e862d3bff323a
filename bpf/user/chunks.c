// SPDX-License-Identifier: BSD-3-Clause
/*
 * Chunks of a map of maps, in a row of memory: address space for all of them is reserved at once,
 * so that an index becomes an address by one multiplication and nothing ever moves. struct
 * scribe_chunks owns the reservation. Chunks are added under the loader's mutex by the daemon's
 * main thread or its second one (grower.c). Must not know what they hold, or when there are more.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

/* PROT_NONE and MAP_NORESERVE: no memory is used until a chunk is mapped over it. */
int scribe_chunks_open(struct scribe_chunks *c, int fd, uint32_t most, uint32_t entries, size_t value_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *room;

	c->fd = fd;
	c->most = most;
	c->entries = entries;
	c->value_bytes = value_bytes;
	c->stride = (entries * value_bytes + page - 1) / page * page;
	room = mmap(NULL, c->stride * most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return -errno;
	c->mem = room;
	return 0;
}

void scribe_chunks_close(struct scribe_chunks *c)
{
	if (c->mem)
		munmap(c->mem, c->stride * c->most);
	c->mem = NULL;
}

/* Release: who reads `n` sees the mapping. */
int scribe_chunks_map(struct scribe_chunks *c, uint32_t index, int fd)
{
	char *at = c->mem + index * c->stride;

	/* in order: what is below `n` is there */
	if (index != c->n || index >= c->most)
		return -EINVAL;
	if (mmap(at, c->stride, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -errno;
	scribe_bpf_keep_memory(at, c->stride);
	__atomic_store_n(&c->n, index + 1, __ATOMIC_RELEASE);
	return 0;
}
