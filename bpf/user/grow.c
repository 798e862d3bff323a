// SPDX-License-Identifier: BSD-3-Clause
/*
 * Adds chunks of slots, tables and segment buffers ahead of need. Loader's mutex; main thread or grower. Must not know
 * what chunks hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"
#include "logfmt/base/clock.h"

#define SLOTS_AHEAD     6144u /* free ones, besides the reserve for catch-alls */
#define SLOTS_AHEAD_CPU 512u  /* or per CPU, where more programs may take slots at once */
#define TABLES_AHEAD    (SCRIBE_TABLES_CHUNK / 2)
#define HEATS_AHEAD     SCRIBE_HEATS_CHUNK
#define AGAIN_NS        1000000000ull /* after a failed allocation */

/*
 * An update of a map of maps is visible at once, but returns when all programs that ran before have ended (10
 * to 60 ms): a thread waits for that.
 */
struct change {
	int map, chunk;
	uint32_t index;
	int failed; /* errno */
};

/* Closes its copy of the chunk's descriptor. */
static void *change_map(void *arg)
{
	struct change *c = arg, own = *c;

	/* the caller returns when the entry is visible; `c` is then invalid */
	if (scribe_map_update(own.map, &own.index, &own.chunk, BPF_ANY))
		__atomic_store_n(&c->failed, errno, __ATOMIC_RELEASE);
	close(own.chunk);
	return NULL;
}

/*
 * Inside the call a thread survives a kill of the process, with everything open that it shares: sockets, locks.
 * So it gets a separate descriptor table with these two only.
 */
static void keep_open(int one, int other)
{
	unsigned low = (unsigned)(one < other ? one : other), high = (unsigned)(one < other ? other : one);

	if (syscall(SYS_close_range, high + 1, ~0u, CLOSE_RANGE_UNSHARE))
		return;
	/* Without the unshare these calls would close the daemon's descriptors. */
	if (low > 0)
		syscall(SYS_close_range, 0, low - 1, 0);
	if (high - low > 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
}

static void *change_alone(void *arg)
{
	const struct change *c = arg;

	keep_open(c->map, c->chunk);
	return change_map(arg);
}

/* False: no thread. */
static bool change_begin(struct change *c)
{
	pthread_t thread;

	if (scribe_thread_start(&thread, change_alone, c))
		return false;
	pthread_detach(thread);
	return true;
}

/* Returns when the chunk can be found, which is before the thread ends. */
static int chunk_show(int map, uint32_t index, int chunk)
{
	const struct timespec nap = {.tv_nsec = 200000};
	struct change c = {.map = map, .index = index};
	uint32_t id;
	int failed = 0;

	c.chunk = fcntl(chunk, F_DUPFD_CLOEXEC, 3);
	if (c.chunk < 0)
		return -errno;
	if (!change_begin(&c))
		change_map(&c);
	while (!failed && scribe_map_lookup(map, &index, &id)) {
		nanosleep(&nap, NULL);
		failed = __atomic_load_n(&c.failed, __ATOMIC_ACQUIRE);
	}
	return -failed;
}

static int chunk_add(struct scribe_bpf *b, struct scribe_chunks *c, const char *kind)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t index = c->n;
	char name[28];
	int fd, rc;

	snprintf(name, sizeof(name), "%s_%u", kind, index);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)c->value_bytes, c->entries, &opts);
	if (fd < 0)
		return -errno;
	rc = scribe_bpf_pin(b, "maps", name, fd);
	/* Pinned before anything refers to it: after a crash here the next daemon maps the chunk. */
	if (rc == 0)
		rc = chunk_show(c->fd, index, fd);
	if (rc == 0)
		rc = scribe_chunks_map(c, index, fd);
	close(fd);
	return rc;
}

/* An estimate while programs take entries. */
static uint32_t left_of(const struct scribe_ring_ctl *ctl)
{
	return __atomic_load_n(&ctl->tail, __ATOMIC_RELAXED) - __atomic_load_n(&ctl->head, __ATOMIC_RELAXED);
}

static uint32_t slots_ahead(const struct scribe_bpf *b)
{
	uint32_t by_cpus = SLOTS_AHEAD_CPU * b->possible_cpus;

	if (b->opt.whole)
		return UINT32_MAX - b->opt.slots;
	return by_cpus > SLOTS_AHEAD ? by_cpus : SLOTS_AHEAD;
}

/* `low` 0 stops the kernel programs from waking the grower. */
static int grow_slots(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *ctl = &b->ctl->slots;
	uint32_t low = ctl->reserve + slots_ahead(b);
	int rc = 0;

	while (rc == 0 && b->slots.n < b->slots.most && left_of(ctl) < low) {
		uint32_t first = b->slots.n * SCRIBE_SLOTS_CHUNK, end = first + SCRIBE_SLOTS_CHUNK;

		rc = chunk_add(b, &b->slots, SCRIBE_SLOT_CHUNK_PIN);
		/* slot 0 is never used */
		for (uint32_t i = first ? first : 1; rc == 0 && i < end && i <= b->opt.slots; i++)
			scribe_ring_put(&b->slot_free, ctl, i);
	}
	ctl->low = b->slots.n < b->slots.most ? low : 0;
	return rc;
}

static int grow_tables(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *ctl = &b->ctl->tables;
	uint32_t low = TABLES_AHEAD * (b->opt.whole ? SCRIBE_TABLE_CHUNKS_WHOLE : 1);
	int rc = 0;

	while (rc == 0 && b->tables.n < b->tables.most && b->tables.n * SCRIBE_TABLES_CHUNK < b->opt.tables &&
	       left_of(ctl) < low) {
		uint32_t first = b->tables.n * SCRIBE_TABLES_CHUNK;

		rc = chunk_add(b, &b->tables, SCRIBE_TABLE_CHUNK_PIN);
		for (uint32_t i = 0; rc == 0 && i < SCRIBE_TABLES_CHUNK; i++)
			scribe_ring_put(&b->tab_free, ctl, first + i + 1);
	}
	ctl->low = low;
	return rc;
}

static int grow_heats(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *ctl = &b->ctl->heats;
	const uint32_t low = HEATS_AHEAD * (b->opt.whole ? SCRIBE_TABLE_CHUNKS_WHOLE : 1);
	int rc = 0;

	while (rc == 0 && b->heats.n < b->heats.most && left_of(ctl) < low) {
		uint32_t first = b->heats.n * SCRIBE_HEATS_CHUNK;

		rc = chunk_add(b, &b->heats, SCRIBE_HEAT_CHUNK_PIN);
		for (uint32_t i = 0; rc == 0 && i < SCRIBE_HEATS_CHUNK; i++)
			scribe_ring_put(&b->heat_free, ctl, first + i + 1);
	}
	ctl->low = low;
	return rc;
}

/* Nothing while segments are off. */
static int grow_segs(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *ctl = &b->ctl->segs;
	const uint32_t low = b->ctl->segs_ahead;
	int rc = 0;

	while (rc == 0 && b->segs.n < b->segs.most && left_of(ctl) < low) {
		uint32_t first = b->segs.n * SCRIBE_SEGS_CHUNK;

		rc = chunk_add(b, &b->segs, SCRIBE_SEG_CHUNK_PIN);
		/* buffer 0 is never used */
		for (uint32_t i = first ? first : 1; rc == 0 && i < first + SCRIBE_SEGS_CHUNK; i++)
			scribe_ring_put(&b->seg_free, ctl, i);
	}
	ctl->low = low; /* woken also at the limit: the daemon must empty buffers */
	return rc;
}

static int grow(struct scribe_bpf *b)
{
	int rc, tables, segs, heats;

	if (b->grow_again_ns && scribe_now_ns() < b->grow_again_ns)
		return -ENOMEM;
	rc = grow_slots(b);
	tables = grow_tables(b);
	segs = grow_segs(b);
	heats = grow_heats(b);
	rc = rc ? rc : tables ? tables : segs ? segs : heats;
	b->grow_again_ns = rc ? scribe_now_ns() + AGAIN_NS : 0;
	/* Without this pause each poll would repeat a failing allocation. */
	return rc;
}

int scribe_bpf_grow_value_tables(struct scribe_bpf *b)
{
	int rc;

	pthread_mutex_lock(&b->tails);
	rc = grow(b);
	pthread_mutex_unlock(&b->tails);
	return rc;
}

bool scribe_bpf_is_low(const struct scribe_bpf *b)
{
	return left_of(&b->ctl->slots) < b->ctl->slots.low ||
	       (left_of(&b->ctl->heats) < b->ctl->heats.low && b->heats.n < b->heats.most) ||
	       (left_of(&b->ctl->segs) < b->ctl->segs.low && b->segs.n < b->segs.most) ||
	       (left_of(&b->ctl->tables) < b->ctl->tables.low && b->tables.n * SCRIBE_TABLES_CHUNK < b->opt.tables);
}
