/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that take pieces of work from a shared counter. All have ended when the call returns. Must not know
 * the work.
 */
#include "logfmt/nodes/pool.h"

#include <pthread.h>
#include <stdatomic.h>

/* On the caller's stack. */
struct pool {
	size_t n;
	int (*one)(void *ctx, size_t i);
	void *ctx;
	atomic_size_t next;
	atomic_int failed;
};

static void *work(void *arg)
{
	struct pool *c = arg;
	size_t i;

	/* A failure stops only pieces that were not started. Of several failures any code is returned. */
	while (!atomic_load(&c->failed) && (i = atomic_fetch_add(&c->next, 1)) < c->n) {
		int rc = c->one(c->ctx, i);

		if (rc < 0)
			atomic_store(&c->failed, rc);
	}
	return NULL;
}

int scribe_pool_work(unsigned threads, size_t n, int (*one)(void *ctx, size_t i), void *ctx)
{
	struct pool c = {.n = n, .one = one, .ctx = ctx};
	pthread_t thread[SCRIBE_POOL_MOST];
	unsigned started = 0;

	threads = threads < SCRIBE_POOL_MOST ? threads : SCRIBE_POOL_MOST;
	while (started + 1 < threads && started + 1 < n && pthread_create(&thread[started], NULL, work, &c) == 0)
		started++;
	work(&c);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return atomic_load(&c.failed);
}
