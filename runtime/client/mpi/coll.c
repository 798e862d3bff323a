/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls nonblocking collectives. All memory of a finalize is in one list. Runs in MPI_Finalize. Must not know what is
 * sent.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/client/mpi/coll.h"
#include "runtime/client/process/daemon_link.h"

#define YIELDS          64 /* before sleeping */
#define SLEEP_MIN_NS    20000
#define SLEEP_MAX_NS    500000
#define SLEEP_DOUBLINGS 5
#define LATE_LOOKS      100 /* tests after the deadline */

/* As malloc(). */
struct scribe_block {
	struct scribe_block *next;
	_Alignas(16) char bytes[];
};

void *scribe_coll_alloc(struct scribe_coll *c, size_t bytes)
{
	struct scribe_block *b;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	b = calloc(1, sizeof(*b) + bytes);
	if (!b)
		return NULL;
	b->next = c->blocks;
	c->blocks = b;
	return b->bytes;
}

void *scribe_coll_array(struct scribe_coll *c, size_t n, size_t bytes)
{
	void *p = n <= SIZE_MAX / bytes ? scribe_coll_alloc(c, n * bytes) : NULL;

	if (!p)
		c->broken = true;
	return p;
}

void scribe_coll_release(struct scribe_coll *c, void *piece)
{
	if (c->broken || !piece)
		return;
	for (struct scribe_block **at = &c->blocks; *at; at = &(*at)->next) {
		struct scribe_block *b = *at;

		if (b->bytes != piece)
			continue;
		*at = b->next;
		free(b);
		return;
	}
}

void scribe_coll_free(struct scribe_coll *c)
{
	if (c->broken)
		return;
	while (c->blocks) {
		struct scribe_block *next = c->blocks->next;

		free(c->blocks);
		c->blocks = next;
	}
}

/* Permanent; the daemon then writes the log. */
static int give_up(struct scribe_coll *c)
{
	c->broken = true;
	return -1;
}

static bool is_over(struct scribe_coll *c)
{
	/*
	 * Before each call: the others may have given up, and with MPICH over UCX a first message to a rank
	 * in MPI_Finalize can block the sender for ever.
	 */
	if (!c->broken && scribe_msg_now_ms() >= c->deadline)
		(void)give_up(c);
	return c->broken;
}

static void rest(struct scribe_mpi *m, unsigned turn)
{
	/* Ranks often outnumber cores: yield, then sleep. */
	unsigned doubled = turn - YIELDS;
	struct timespec nap = {0, SLEEP_MAX_NS};

	if (m->verbs->rest) {
		m->verbs->rest(m, turn);
		return;
	}
	if (turn < YIELDS) {
		sched_yield();
		return;
	}
	if (doubled < SLEEP_DOUBLINGS)
		nap.tv_nsec = SLEEP_MIN_NS << doubled;
	nanosleep(&nap, NULL);
}

static int wait_for(struct scribe_coll *c, union scribe_mpi_handle *req)
{
	unsigned late = 0;

	if (c->broken)
		return -1;
	for (unsigned n = 0;; n++) {
		int flag = 0;

		if (c->mpi->verbs->test(c->mpi, req, &flag) != 0)
			return give_up(c);
		if (flag)
			return 0;
		/* a rank that was stopped until now finds its messages complete */
		if (scribe_msg_now_ms() >= c->deadline && late++ == LATE_LOOKS)
			return give_up(c);
		rest(c->mpi, n);
	}
}

static int started(struct scribe_coll *c, int rc, union scribe_mpi_handle *req)
{
	if (rc != 0)
		return give_up(c);
	return wait_for(c, req);
}

int scribe_coll_begin(struct scribe_coll *c)
{
	union scribe_mpi_handle req;

	if (is_over(c))
		return -1;
	return started(c, c->mpi->verbs->begin(c->mpi, &req), &req);
}

/* A negative rank omits that half. */
int scribe_coll_exchange(struct scribe_coll *c, int to, const void *out, size_t bytes, int from, void *in,
			 size_t capacity)
{
	union scribe_mpi_handle sent, come;

	if (is_over(c))
		return -1;
	if (from >= 0 && c->mpi->verbs->recv(c->mpi, from, in, capacity, &come) != 0)
		return give_up(c);
	if (to >= 0 && c->mpi->verbs->send(c->mpi, to, out, bytes, &sent) != 0)
		return give_up(c);
	if (from >= 0 && wait_for(c, &come) < 0)
		return -1;
	return to >= 0 ? wait_for(c, &sent) : 0;
}

int scribe_coll_bcast(struct scribe_coll *c, void *buf, size_t bytes, int root)
{
	union scribe_mpi_handle req;

	if (is_over(c))
		return -1;
	return started(c, c->mpi->verbs->bcast(c->mpi, buf, bytes, root, &req), &req);
}

int scribe_coll_max(struct scribe_coll *c, int64_t *inout, size_t n)
{
	union scribe_mpi_handle req;

	if (is_over(c))
		return -1;
	return started(c, c->mpi->verbs->max(c->mpi, inout, n, &req), &req);
}

int scribe_coll_band(struct scribe_coll *c, void *inout, size_t bytes)
{
	union scribe_mpi_handle req;

	if (is_over(c))
		return -1;
	return started(c, c->mpi->verbs->band(c->mpi, inout, bytes, &req), &req);
}

int scribe_coll_reduce(struct scribe_coll *c, const void *in, void *out, size_t bytes, scribe_mpi_combine combine)
{
	union scribe_mpi_handle req;

	if (is_over(c) || started(c, c->mpi->verbs->reduce(c->mpi, in, out, bytes, combine, &req), &req) < 0)
		return -1;
	c->mpi->verbs->reduce_end(c->mpi);
	return 0;
}

int scribe_coll_offsets(struct scribe_coll *c, const int64_t *mine, int64_t *before, int64_t *total, size_t n)
{
	union scribe_mpi_handle scan, sum;

	if (is_over(c))
		return -1;
	memset(before, 0, n * sizeof(*before)); /* rank 0's is not written */
	memcpy(total, mine, n * sizeof(*total));
	if (c->mpi->verbs->exscan(c->mpi, mine, before, n, &scan) != 0)
		return give_up(c);
	if (c->mpi->verbs->sum(c->mpi, total, n, &sum) != 0)
		return give_up(c);
	if (wait_for(c, &scan) < 0)
		return -1;
	return wait_for(c, &sum);
}
