// SPDX-License-Identifier: BSD-3-Clause
/* Free slots, skipped runs and memory, read from the kernel each time. Main thread. */
#include <errno.h>
#include <stdio.h>

#include "bpf/user/levels.h"
#include "bpf/user/load_private.h"

uint32_t scribe_bpf_free_slots(const struct scribe_bpf *b)
{
	return b->ctl->slots.tail - b->ctl->slots.head;
}

int scribe_bpf_map_fd(const struct scribe_bpf *b, const char *name, uint32_t *ret_entries)
{
	const struct scribe_named *m = scribe_bpf_map(b, name);

	if (!m)
		return -ENOENT;
	*ret_entries = m->entries;
	return m->fd;
}

int scribe_bpf_events_fd(const struct scribe_bpf *b)
{
	return b->ring.fd;
}

uint64_t scribe_bpf_misses(const struct scribe_bpf *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < b->nprogs; i++) {
		struct bpf_prog_info info = {0};
		uint32_t bytes = sizeof(info);

		/* What a skipped program on the page cache does not count is not an operation. */
		if (!scribe_bpf_cache_bits(b->prog[i].name) && !bpf_obj_get_info_by_fd(b->prog[i].fd, &info, &bytes))
			sum += info.recursion_misses;
	}
	return sum;
}

/* The kernel's charge: "memlock:" in fdinfo. */
static uint64_t map_memory_bytes(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		unsigned long long n;

		if (sscanf(line, "memlock:%llu", &n) == 1)
			bytes = n;
	}
	fclose(f);
	return bytes;
}

/* Those allocated as a whole; the others grow with their entries. */
static bool is_whole(const struct scribe_named *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || map->type == BPF_MAP_TYPE_RINGBUF;
}

uint64_t scribe_bpf_memory(struct scribe_bpf *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < b->nmaps; i++) {
		struct scribe_named *map = &b->map[i];

		if (!map->memory || !is_whole(map))
			map->memory = map_memory_bytes(map->fd);
		sum += map->memory;
	}
	return sum + b->slots.n * b->slots.stride + b->tables.n * b->tables.stride + b->segs.n * b->segs.stride +
	       b->heats.n * b->heats.stride;
}

uint64_t scribe_bpf_memory_per_cpu(const struct scribe_bpf *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < b->nmaps; i++)
		if (b->map[i].type == BPF_MAP_TYPE_PERCPU_ARRAY)
			sum += (uint64_t)b->map[i].entries * ((b->map[i].value_bytes + 7) / 8 * 8);
	return sum;
}
