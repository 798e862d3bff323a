/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches of asynchronous reads and writes, for the random program and for what it prints. Each leaves the
 * results in `result`, in the order of submission.
 */
#ifndef TESTS_ORACLE_RANDOM_ASYNC_H
#define TESTS_ORACLE_RANDOM_ASYNC_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(x) \
	({ \
		long must_ = (long)(x); \
		if (must_ < 0) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #x, strerror(errno)); \
			_exit(3); \
		} \
		must_; \
	})

#define BATCH_MOST 24

#define BATCH_MOST 24

extern long result[BATCH_MOST];

/*
 * libaio: `n` of `size` bytes one behind the other; taken out of the mapped ring where `by_ring`. With
 * `append` writes go to the file's end (RWF_APPEND), whatever `from` says.
 */
void aio_batch(int fd, int write, long from, unsigned n, unsigned size, int by_ring, int append);
/* io_uring with four places for requests and eight for completions, none of which is taken before all are
 * submitted. */
void uring_batch(int fd, int write, long from, unsigned n, unsigned size, int append);
/*
 * One chain of io_uring: opens (below folder `dir`), writes so many bytes at byte 0, closes. `direct`: by a
 * direct descriptor. Results are those of the three, in order.
 */
void uring_chain(int dir, const char *path, int flags, unsigned size, int direct);
/* The descriptor through a socket to the program itself. */
int passed(int fd, int close_first);
/* A descriptor of `path`, opened by a child that has ended (pidfd_getfd). */
int taken(const char *path);

#endif
