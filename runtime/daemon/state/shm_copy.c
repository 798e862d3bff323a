// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies slots of a shared memory, which the traced program may change at the same time. Reads with pread(), never
 * through a mapping; nothing read is trusted. Must not know which process a record belongs to.
 */
#include "runtime/daemon/state/shm_copy.h"

#include <stddef.h>
#include <unistd.h>

static bool read_at(int fd, size_t at, void *to, size_t bytes)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_heat(int fd, struct scribe_stream_copy *c, int shard)
{
	const uint32_t table = c->s.heat[shard].table;

	/* an impossible index is treated as none: the program can write anything here */
	if (table > SCRIBE_STREAM_HEATS)
		c->s.heat[shard].table = 0;
	if (!c->s.heat[shard].table)
		return true;
	return read_at(fd, offsetof(struct scribe_shm_counters, heat) + (table - 1) * sizeof(c->heat[shard]),
		       &c->heat[shard], sizeof(c->heat[shard]));
}

/* Several reads, which are not atomic together: the caller compares lock words. */
static bool read_all(int fd, uint32_t index, bool file, struct scribe_stream_copy *c)
{
	const size_t at = offsetof(struct scribe_shm_counters, stream) + index * sizeof(c->s),
		     beside = offsetof(struct scribe_shm_counters, more) + index * sizeof(c->more);

	return read_at(fd, at, &c->s, sizeof(c->s)) && (!file || read_at(fd, beside, &c->more, sizeof(c->more))) &&
	       read_heat(fd, c, SCRIBE_SHARD_OWNER) && read_heat(fd, c, SCRIBE_SHARD_SHARED);
}

/* The state before the call that the owner has not finished. */
static bool take_again(int fd, bool file, struct scribe_stream_copy *c)
{
	/* while the lock is odd the shadow is consistent */
	c->s.shard[SCRIBE_SHARD_OWNER] = c->s.shard[SCRIBE_SHARD_OWNER_SHADOW];
	c->s.heat[SCRIBE_SHARD_OWNER] = c->s.heat[SCRIBE_SHARD_OWNER_SHADOW];
	if (file) {
		c->more.ext[SCRIBE_SHARD_OWNER] = c->more.ext[SCRIBE_SHARD_OWNER_SHADOW];
		c->more.access[SCRIBE_SHARD_OWNER] = c->more.access[SCRIBE_SHARD_OWNER_SHADOW];
	}
	return read_heat(fd, c, SCRIBE_SHARD_OWNER);
}

bool scribe_stream_copy_read(int fd, uint32_t index, bool file, struct scribe_stream_copy *c, unsigned *tries)
{
	const size_t lock = offsetof(struct scribe_shm_counters, stream) + index * sizeof(c->s) +
			    offsetof(struct scribe_counter_slot, shard[SCRIBE_SHARD_OWNER].lock);

	/* `tries` is shared by all slots: a lock that is never released costs bounded time */
	for (bool first = true; first || *tries; first = false) {
		uint32_t after;

		*tries -= !first;
		if (!read_all(fd, index, file, c) || !read_at(fd, lock, &after, sizeof(after)))
			return false;
		/* odd during a call; equal and even before and after: no call has changed the copy */
		if (!(after & 1) && after == c->s.shard[SCRIBE_SHARD_OWNER].lock)
			return true;
	}
	return !(c->s.shard[SCRIBE_SHARD_OWNER].lock & 1) || take_again(fd, file, c);
}

const struct scribe_heat_table *scribe_stream_copy_heat(const struct scribe_stream_copy *c, int shard)
{
	return c->s.heat[shard].table ? &c->heat[shard] : NULL;
}
