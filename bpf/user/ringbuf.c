// SPDX-License-Identifier: BSD-3-Clause
/*
 * Consumer of the event ring (layout of BPF_MAP_TYPE_RINGBUF, linux/bpf.h). Data is mapped twice in a row, so
 * that wrapped records are contiguous. Main thread.
 */
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

int scribe_ring_open(struct scribe_ring *r, int fd, uint32_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at;

	r->fd = fd;
	r->bytes = bytes;
	r->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->consumer == MAP_FAILED) {
		r->consumer = NULL;
		return -errno;
	}
	at = mmap(NULL, page + 2 * (size_t)bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (at == MAP_FAILED)
		return -errno;
	scribe_bpf_keep_memory(r->consumer, page);
	scribe_bpf_keep_memory(at, page + 2 * (size_t)bytes);
	r->producer = (const uint64_t *)at;
	r->data = at + page;
	return 0;
}

void scribe_ring_close(struct scribe_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (r->producer)
		munmap((void *)r->producer, page + 2 * (size_t)r->bytes);
	if (r->consumer)
		munmap(r->consumer, page);
	r->producer = NULL;
	r->consumer = NULL;
}

uint64_t scribe_bpf_position(const struct scribe_bpf *b)
{
	const uint32_t *head = (const void *)(b->ring.data + (*b->ring.consumer & (b->ring.bytes - 1)));

	return *b->ring.consumer + ((*head & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
}

uint64_t scribe_bpf_taken(const struct scribe_bpf *b)
{
	return *b->ring.consumer;
}

uint64_t scribe_bpf_ring_bytes(const struct scribe_bpf *b, uint64_t *ret_most)
{
	*ret_most = b->ring.most;
	return b->ring.bytes;
}

uint64_t scribe_bpf_put(const struct scribe_bpf *b)
{
	return __atomic_load_n(b->ring.producer, __ATOMIC_ACQUIRE);
}

bool scribe_bpf_sleeps(struct scribe_bpf *b)
{
	/* exchange, then read: programs write, then read the flag, so one side sees the other */
	__atomic_exchange_n(&b->ctl->asleep, 1, __ATOMIC_SEQ_CST);
	return scribe_bpf_put(b) == scribe_bpf_taken(b);
}

void scribe_bpf_wakes(struct scribe_bpf *b)
{
	__atomic_store_n(&b->ctl->asleep, 0, __ATOMIC_RELAXED);
}

void scribe_bpf_skip_to(struct scribe_bpf *b, uint64_t position)
{
	b->ring.skip_to = position;
}

static int consume(struct scribe_bpf *b, scribe_event_fn fn, void *ctx)
{
	struct scribe_ring *r = &b->ring;
	uint64_t end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	int taken = 0, stop = 0;

	if (r->most < end - *r->consumer)
		r->most = end - *r->consumer;
	while (*r->consumer < end && !stop) {
		const uint32_t *at = (const void *)(r->data + (*r->consumer & (r->bytes - 1)));
		uint32_t head = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		uint32_t bytes = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		const struct scribe_event *ev = (const void *)((const char *)at + BPF_RINGBUF_HDR_SZ);
		uint64_t behind = *r->consumer + (bytes + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;

		/* checked for each event: a request may be far back in the ring */
		if (scribe_bpf_is_low(b))
			(void)scribe_bpf_grow_value_tables(b);
		/* A program is still writing this record; later ones wait for order. */
		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(head & BPF_RINGBUF_DISCARD_BIT) && bytes >= sizeof(*ev) &&
		    ev->text_bytes <= bytes - sizeof(*ev)) {
			/* Up to there an earlier daemon handled events, according to its journals. */
			if (behind > r->skip_to) {
				stop = fn(ctx, ev, (const char *)(ev + 1));
				taken++;
			}
			if (ev->type == SCRIBE_EV_ENV)
				__atomic_fetch_add(&b->ctl->env_taken, ev->text_bytes, __ATOMIC_RELAXED);
		}
		/* Only now: a daemon that dies before this receives the event again. */
		__atomic_store_n(r->consumer, behind, __ATOMIC_SEQ_CST);
	}
	return taken;
}

int scribe_bpf_poll(struct scribe_bpf *b, int timeout_ms, scribe_event_fn fn, void *ctx)
{
	struct pollfd p = {.fd = b->ring.fd, .events = POLLIN};
	int taken = consume(b, fn, ctx);

	if (taken || !timeout_ms)
		return taken;
	if (poll(&p, 1, timeout_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	return consume(b, fn, ctx);
}
