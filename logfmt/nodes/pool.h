/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads for pieces of work that do not know each other. Private to logfmt/. */
#ifndef LOGFMT_NODES_POOL_H
#define LOGFMT_NODES_POOL_H

#include <stddef.h>

#define SCRIBE_POOL_MOST 64

/*
 * one(ctx, i) for each i below `n`, by at most `threads` threads, of which the caller is one: 0 and 1 are the
 * caller alone. 0, or the code of one that failed: those not begun then are left out.
 */
int scribe_pool_work(unsigned threads, size_t n, int (*one)(void *ctx, size_t i), void *ctx);

#endif
