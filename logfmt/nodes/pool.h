/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_POOL_H
#define LOGFMT_NODES_POOL_H

#include <stddef.h>

#define SCRIBE_POOL_MOST 64

/*
 * one(ctx, i) for each i below `n` by at most `threads` threads, including the caller. 0, or the code of a
 * failure, after which no piece is started.
 */
int scribe_pool_work(unsigned threads, size_t n, int (*one)(void *ctx, size_t i), void *ctx);

#endif
