// SPDX-License-Identifier: BSD-3-Clause
/* Loaded maps by name, entries by index. Main thread. Must not know what maps hold. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

const struct scribe_named *scribe_bpf_map(const struct scribe_bpf *b, const char *name)
{
	for (unsigned i = 0; i < b->nmaps; i++)
		if (!strcmp(b->map[i].name, name))
			return &b->map[i];
	return NULL;
}

void scribe_bpf_keep_memory(void *mem, size_t bytes)
{
	/* Children need no copy, which would keep the memory alive. */
	(void)madvise(mem, bytes, MADV_DONTFORK);
}

int scribe_bpf_map_memory(int fd, uint32_t entries, uint32_t value_bytes, struct scribe_bpf_map_info *ret_map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes;

	ret_map->fd = fd;
	ret_map->entries = entries;
	/* The kernel pads values of array maps to 8 bytes. */
	ret_map->value_bytes = (value_bytes + 7) / 8 * 8;
	bytes = ((size_t)entries * ret_map->value_bytes + page - 1) / page * page;
	ret_map->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ret_map->mem == MAP_FAILED) {
		ret_map->mem = NULL;
		return -errno;
	}
	scribe_bpf_keep_memory(ret_map->mem, bytes);
	ret_map->bytes = bytes;
	return 0;
}

struct scribe_proc *scribe_bpf_proc(struct scribe_bpf *b, uint32_t index)
{
	return index < b->procs.entries ? (struct scribe_proc *)b->procs.mem + index : NULL;
}

struct scribe_slot *scribe_bpf_slot(struct scribe_bpf *b, uint32_t index)
{
	return scribe_chunks_at(&b->slots, index);
}
