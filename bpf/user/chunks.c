// SPDX-License-Identifier: BSD-3-Clause
/*
 * Chunks of a map of maps, side by side in reserved address space, so that nothing moves. Loader's mutex; main
 * thread or grower. Must not know what chunks hold.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

int scribe_chunks_open(struct scribe_chunks *c, int fd, uint32_t most, uint32_t entries, size_t value_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *reserved;

	c->fd = fd;
	c->most = most;
	c->entries = entries;
	c->value_bytes = value_bytes;
	c->stride = (entries * value_bytes + page - 1) / page * page;
	/* PROT_NONE and MAP_NORESERVE: uses no memory until a chunk is mapped over it. */
	reserved = mmap(NULL, c->stride * most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED)
		return -errno;
	c->mem = reserved;
	return 0;
}

void scribe_chunks_close(struct scribe_chunks *c)
{
	if (c->mem)
		munmap(c->mem, c->stride * c->most);
	c->mem = NULL;
}

int scribe_chunks_map(struct scribe_chunks *c, uint32_t index, int fd)
{
	char *at = c->mem + index * c->stride;

	/* in order, because all below `n` are taken as mapped */
	if (index != c->n || index >= c->most)
		return -EINVAL;
	if (mmap(at, c->stride, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -errno;
	scribe_bpf_keep_memory(at, c->stride);
	/* Release: a reader of `n` must see the mapping. */
	__atomic_store_n(&c->n, index + 1, __ATOMIC_RELEASE);
	return 0;
}
