// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies of places out of a memory that its program changes meanwhile, and that says what it likes.
 * Must not know whose records they are. Reads by pread(), never through a mapping. A copy is
 * repeated, a bounded number of times, until the owner's lock word has not changed meanwhile. The
 * copy belongs to the caller; its heat table index is bounded here. Daemon's main thread.
 */
#include "runtime/daemon/state/shm_copy.h"

#include <stddef.h>
#include <unistd.h>

static bool read_at(int fd, size_t at, void *to, size_t bytes)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* The table that a shard names. One that there is not is none. */
static bool read_heat(int fd, struct scribe_stream_copy *c, int shard)
{
	const uint32_t table = c->s.heat[shard].table;

	if (table > SCRIBE_STREAM_HEATS)
		c->s.heat[shard].table = 0;
	if (!c->s.heat[shard].table)
		return true;
	return read_at(fd, offsetof(struct scribe_shm_counters, heat) + (table - 1) * sizeof(c->heat[shard]),
		       &c->heat[shard], sizeof(c->heat[shard]));
}

/*
 * One slot, what stands beside it for files of MPI-IO, and its heat tables: several reads, not
 * atomic together.
 */
static bool read_all(int fd, uint32_t index, bool file, struct scribe_stream_copy *c)
{
	const size_t at = offsetof(struct scribe_shm_counters, stream) + index * sizeof(c->s),
		     beside = offsetof(struct scribe_shm_counters, more) + index * sizeof(c->more);

	return read_at(fd, at, &c->s, sizeof(c->s)) && (!file || read_at(fd, beside, &c->more, sizeof(c->more))) &&
	       read_heat(fd, c, SCRIBE_SHARD_OWNER) && read_heat(fd, c, SCRIBE_SHARD_SHARED);
}

/*
 * As it was before the call that its owner has not ended. Each call is added to the owner's shard,
 * then to its shadow: while the lock is odd the shadow is whole, without that call.
 */
static bool take_again(int fd, bool file, struct scribe_stream_copy *c)
{
	c->s.shard[SCRIBE_SHARD_OWNER] = c->s.shard[SCRIBE_SHARD_OWNER_SHADOW];
	c->s.heat[SCRIBE_SHARD_OWNER] = c->s.heat[SCRIBE_SHARD_OWNER_SHADOW];
	if (file) {
		c->more.ext[SCRIBE_SHARD_OWNER] = c->more.ext[SCRIBE_SHARD_OWNER_SHADOW];
		c->more.access[SCRIBE_SHARD_OWNER] = c->more.access[SCRIBE_SHARD_OWNER_SHADOW];
	}
	return read_heat(fd, c, SCRIBE_SHARD_OWNER);
}

/*
 * The owner's lock is a sequence counter: odd while a call is under way. Equal and even before and
 * after means that no call has changed the copy. `tries` is shared by all slots of a look, so that
 * a program that never lets go costs a bounded time; then the shadow is taken.
 */
bool scribe_stream_copy_read(int fd, uint32_t index, bool file, struct scribe_stream_copy *c, unsigned *tries)
{
	const size_t lock = offsetof(struct scribe_shm_counters, stream) + index * sizeof(c->s) +
			    offsetof(struct scribe_counter_slot, shard[SCRIBE_SHARD_OWNER].lock);

	for (bool first = true; first || *tries; first = false) {
		uint32_t after;

		*tries -= !first;
		if (!read_all(fd, index, file, c) || !read_at(fd, lock, &after, sizeof(after)))
			return false;
		if (!(after & 1) && after == c->s.shard[SCRIBE_SHARD_OWNER].lock)
			return true;
	}
	return !(c->s.shard[SCRIBE_SHARD_OWNER].lock & 1) || take_again(fd, file, c);
}

const struct scribe_heat_table *scribe_stream_copy_heat(const struct scribe_stream_copy *c, int shard)
{
	return c->s.heat[shard].table ? &c->heat[shard] : NULL;
}
