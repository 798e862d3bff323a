/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of packed segments on pages in memory; if the pool's memory is full, complete pages go to an unnamed
 * file. Filled by the main thread, read by the log builder.
 */
#include "runtime/daemon/segments/segment_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PAGE_BYTES  4096u
#define PAGE_FIRST  64u /* most records have few segments */
#define LEFT_OTHERS 8u  /* this fraction of the file system stays free */

/* Requests skipped after spilling failed or freed less than 1 / SPILL_LEAST of the pool: it walks all runs. */
#define SKIP_SPILLS 4096u
#define SPILL_LEAST 256u

/* A full page. */
struct page {
	union {
		unsigned char *mem;
		uint64_t at; /* offset in the file, if `capacity` is 0 */
	};
	uint32_t bytes, capacity;
};

struct scribe_segment_run {
	struct scribe_segpack last;
	unsigned char *buf; /* current page; or NULL */
	uint32_t used, capacity;
	struct page *page;
	uint32_t pages, pages_capacity;
	struct scribe_segstore *store;
	struct scribe_segment_run *next, **at; /* in the pool's list */
};

void scribe_segstore_open(struct scribe_segstore *s, struct scribe_segpool *pool)
{
	*s = (struct scribe_segstore){.pool = pool, .fd = -1};
}

void scribe_segstore_close(struct scribe_segstore *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->pool)
		s->pool->file -= s->end;
	*s = (struct scribe_segstore){.fd = -1};
}

/* O_TMPFILE: nothing remains after a crash. */
static int file_open(struct scribe_segstore *s)
{
	if (s->fd >= 0)
		return 0;
	if (!s->pool->dir[0])
		return -ENOSPC;
	s->fd = open(s->pool->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return s->fd < 0 ? -errno : 0;
}

static bool file_has_room(const struct scribe_segstore *s)
{
	struct statvfs fs;

	return fstatvfs(s->fd, &fs) == 0 && fs.f_bavail > fs.f_blocks / LEFT_OTHERS;
}

/* After an error the page stays in memory. */
static int page_write(struct scribe_segstore *s, struct page *p)
{
	unsigned char *mem = p->mem;
	size_t done = 0;

	if (s->pool->file + p->bytes > s->pool->file_most)
		return -ENOSPC;
	while (done < p->bytes) {
		/* Bytes after s->end, left by a failed attempt, are overwritten. */
		ssize_t n = pwrite(s->fd, mem + done, p->bytes - done, (off_t)(s->end + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	free(mem);
	s->pool->memory -= p->capacity;
	p->capacity = 0;
	p->at = s->end;
	s->end += p->bytes;
	s->pool->file += p->bytes;
	return 0;
}

static int run_seal(struct scribe_segment_run *r)
{
	struct scribe_segpool *pool = r->store->pool;

	if (r->pages == r->pages_capacity) {
		uint32_t capacity = r->pages_capacity ? 2 * r->pages_capacity : 4;
		struct page *more = realloc(r->page, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		pool->memory += (capacity - r->pages_capacity) * sizeof(*more);
		r->page = more;
		r->pages_capacity = capacity;
	}
	r->page[r->pages++] = (struct page){.mem = r->buf, .bytes = r->used, .capacity = r->capacity};
	r->buf = NULL;
	r->used = r->capacity = 0;
	return 0;
}

/* Writes full pages, and the current one if it has `least` bytes. */
static int run_spill(struct scribe_segment_run *r, uint32_t least)
{
	int rc = file_open(r->store);

	if (rc == 0 && !file_has_room(r->store))
		rc = -ENOSPC;
	if (rc == 0 && r->used >= least)
		rc = run_seal(r);
	/* Backwards: pages before one in the file are in the file, too. */
	for (uint32_t i = r->pages; i-- > 0 && rc == 0 && r->page[i].capacity;)
		rc = page_write(r->store, &r->page[i]);
	return rc;
}

static bool has_in_memory(const struct scribe_segment_run *r, uint32_t least)
{
	return (r->pages && r->page[r->pages - 1].capacity) || r->used >= least;
}

/* Frees a quarter of the memory, if possible. */
static void pool_spill(struct scribe_segpool *pool)
{
	const uint64_t low = pool->memory_most / 4 * 3, before = pool->memory;

	if (pool->skip && pool->skip--)
		return;
	/* Short pages last, because the entry of each page stays in memory. */
	for (uint32_t least = PAGE_BYTES; least; least /= 4)
		for (struct scribe_segment_run *r = pool->runs; r && pool->memory > low; r = r->next)
			if (has_in_memory(r, least) && run_spill(r, least) < 0) {
				pool->skip = SKIP_SPILLS;
				return;
			}
	if (before - pool->memory < pool->memory_most / SPILL_LEAST)
		pool->skip = SKIP_SPILLS;
}

/* Counts `bytes` before they are allocated; the caller subtracts them if that fails. */
static int pool_charge(struct scribe_segpool *pool, uint64_t bytes)
{
	if (pool->memory + bytes > pool->memory_most)
		pool_spill(pool);
	if (pool->memory + bytes > pool->memory_most)
		return -ENOSPC;
	pool->memory += bytes;
	return 0;
}

static struct scribe_segment_run *run_new(struct scribe_segstore *s)
{
	struct scribe_segment_run *r;

	if (pool_charge(s->pool, sizeof(*r)) < 0)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r) {
		s->pool->memory -= sizeof(*r);
		return NULL;
	}
	r->store = s;
	r->next = s->pool->runs;
	r->at = &s->pool->runs;
	if (r->next)
		r->next->at = &r->next;
	s->pool->runs = r;
	return r;
}

static void run_free(struct scribe_segment_run *r)
{
	struct scribe_segpool *pool = r->store->pool;

	for (uint32_t i = 0; i < r->pages; i++)
		if (r->page[i].capacity) {
			free(r->page[i].mem);
			pool->memory -= r->page[i].capacity;
		}
	free(r->buf);
	free(r->page);
	pool->memory -= sizeof(*r) + r->capacity + r->pages_capacity * sizeof(*r->page);
	*r->at = r->next;
	if (r->next)
		r->next->at = r->at;
	free(r);
}

static uint32_t next_capacity(const struct scribe_segment_run *r)
{
	uint32_t capacity = PAGE_FIRST;

	if (r->capacity)
		return 4 * r->capacity;
	/* Starts with the length of the previous page. */
	while (r->pages && capacity < r->page[r->pages - 1].bytes)
		capacity *= 4;
	return capacity;
}

static int run_capacity(struct scribe_segment_run *r)
{
	struct scribe_segpool *pool = r->store->pool;
	uint32_t capacity, before;
	unsigned char *more;
	int rc;

	if (r->capacity - r->used >= SCRIBE_SEGPACK_MOST)
		return 0;
	if (r->capacity == PAGE_BYTES) {
		rc = run_seal(r);
		if (rc < 0)
			return rc;
	}
	do {
		before = r->capacity;
		capacity = next_capacity(r);
		rc = pool_charge(pool, capacity - before);
		if (rc < 0)
			return rc;
		/* pool_charge() spilled this run's own page: compute the size again. */
		if (r->capacity != before)
			pool->memory -= capacity - before;
	} while (r->capacity != before);
	more = realloc(r->buf, capacity);
	if (!more) {
		pool->memory -= capacity - before;
		return -ENOMEM;
	}
	r->buf = more;
	r->capacity = capacity;
	return 0;
}

/* The first run that the segment can follow: of those the one with the latest start, which keeps the runs few. */
static uint32_t side_find(const struct scribe_side *side, uint64_t start_ns)
{
	uint32_t low = 0, high = side->runs;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (side->run[middle]->last.start_ns <= start_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int side_new_run(struct scribe_segstore *s, struct scribe_side *side)
{
	struct scribe_segment_run *r;

	if (side->runs == side->capacity) {
		uint32_t capacity = side->capacity ? 2 * side->capacity : 1;
		struct scribe_segment_run **more;

		if (pool_charge(s->pool, (capacity - side->capacity) * sizeof(*more)) < 0)
			return -ENOSPC;
		more = realloc(side->run, capacity * sizeof(*more));
		if (!more) {
			s->pool->memory -= (capacity - side->capacity) * sizeof(*more);
			return -ENOMEM;
		}
		side->run = more;
		side->capacity = capacity;
	}
	r = run_new(s);
	if (!r)
		return -ENOSPC;
	side->run[side->runs++] = r;
	return 0;
}

int scribe_track_add(struct scribe_segstore *s, struct scribe_track *t, unsigned side_of, const struct scribe_seg *seg)
{
	struct scribe_side *side = &t->side[side_of & 1];
	uint32_t at = side_find(side, seg->start_ns);
	struct scribe_segment_run *r;
	int rc = 0;

	if (at == side->runs)
		rc = side_new_run(s, side);
	if (rc < 0)
		return rc;
	r = side->run[at];
	rc = run_capacity(r);
	if (rc < 0)
		return rc;
	/* The order of the runs is kept: the new start is not after that of the run before. */
	r->used += (uint32_t)scribe_segpack_put(&r->last, seg, r->buf + r->used);
	side->n++;
	return 0;
}

void scribe_track_clear(struct scribe_segstore *s, struct scribe_track *t)
{
	for (int i = 0; i < 2; i++) {
		struct scribe_side *side = &t->side[i];

		for (uint32_t k = 0; k < side->runs; k++)
			run_free(side->run[k]);
		if (side->capacity)
			s->pool->memory -= side->capacity * sizeof(*side->run);
		free(side->run);
	}
	memset(t, 0, sizeof(*t));
}

struct scribe_segcursor {
	const struct scribe_segment_run *run;
	struct scribe_segpack last;
	struct scribe_seg seg; /* current */
	uint32_t page;         /* next */
	const unsigned char *at;
	size_t left;
	unsigned char *own; /* a page read from the file */
};

/* 1, 0 at the end, or a negative errno. */
static int cursor_page(struct scribe_segcursor *c)
{
	const struct scribe_segment_run *r = c->run;
	const struct page *p;
	ssize_t n;

	if (c->page == r->pages && r->used) {
		c->at = r->buf;
		c->left = r->used;
		c->page++;
		return 1;
	}
	if (c->page >= r->pages)
		return 0;
	p = &r->page[c->page++];
	c->left = p->bytes;
	if (p->capacity) {
		c->at = p->mem;
		return 1;
	}
	if (!c->own)
		c->own = malloc(PAGE_BYTES);
	if (!c->own)
		return -ENOMEM;
	n = pread(r->store->fd, c->own, p->bytes, (off_t)p->at);
	c->at = c->own;
	return n == (ssize_t)p->bytes ? 1 : n < 0 ? -errno : -EIO;
}

/* 1, 0 at the end, or a negative errno; -EIO: damaged. */
static int cursor_next(struct scribe_segcursor *c)
{
	size_t n;

	if (!c->left) {
		int rc = cursor_page(c);

		if (rc <= 0)
			return rc;
	}
	n = scribe_segpack_get(&c->last, c->at, c->left, &c->seg);
	if (!n)
		return -EIO;
	c->at += n;
	c->left -= n;
	return 1;
}

/* Restores the heap of cursors, with the earliest start first. */
static void sift(struct scribe_segmerge *m, uint32_t at)
{
	for (;;) {
		uint32_t least = at, moved;

		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->n; child++)
			if (m->cursor[m->heap[child]].seg.start_ns < m->cursor[m->heap[least]].seg.start_ns)
				least = child;
		if (least == at)
			return;
		moved = m->heap[at];
		m->heap[at] = m->heap[least];
		m->heap[least] = moved;
		at = least;
	}
}

int scribe_segmerge_begin(struct scribe_segmerge *m, struct scribe_track *const *tracks, size_t n, unsigned side)
{
	size_t runs = 0;

	*m = (struct scribe_segmerge){0};
	for (size_t i = 0; i < n; i++)
		runs += tracks[i]->side[side & 1].runs;
	m->cursor = calloc(runs + 1, sizeof(*m->cursor));
	m->heap = calloc(runs + 1, sizeof(*m->heap));
	if (!m->cursor || !m->heap)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < tracks[i]->side[side & 1].runs; k++) {
			struct scribe_segcursor *c = &m->cursor[m->cursors];
			int rc;

			c->run = tracks[i]->side[side & 1].run[k];
			m->cursors++;
			rc = cursor_next(c);
			if (rc < 0)
				return rc;
			if (rc)
				m->heap[m->n++] = (uint32_t)(c - m->cursor);
		}
	for (uint32_t i = m->n / 2; i-- > 0;)
		sift(m, i);
	return 0;
}

int scribe_segmerge_next(struct scribe_segmerge *m, struct scribe_seg *ret_seg)
{
	int rc;

	if (!m->n)
		return 0;
	*ret_seg = m->cursor[m->heap[0]].seg;
	rc = cursor_next(&m->cursor[m->heap[0]]);
	if (rc < 0)
		return rc;
	if (!rc)
		m->heap[0] = m->heap[--m->n];
	sift(m, 0);
	return 1;
}

void scribe_segmerge_end(struct scribe_segmerge *m)
{
	for (size_t i = 0; m->cursor && i < m->cursors; i++)
		free(m->cursor[i].own);
	free(m->cursor);
	free(m->heap);
	*m = (struct scribe_segmerge){0};
}
