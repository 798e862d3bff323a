/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_BYTES_H
#define LOGFMT_NODES_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct scribe_bytes { /* zeros: empty; free `at` */
	char *at;
	size_t n, capacity;
};

/* Space for `n` more. 0 or -ENOMEM. */
int scribe_bytes_room(struct scribe_bytes *to, size_t n);
int scribe_bytes_put(struct scribe_bytes *to, const void *bytes, size_t n);
/* A sink of pack.h; `to` is a struct scribe_bytes. */
int scribe_bytes_sink(void *to, const void *bytes, size_t n);

/* Id, 32-bit length, bytes. */
int scribe_bytes_put_name(struct scribe_bytes *to, uint64_t id, const char *text, size_t bytes);
/* Moves *at to the next name. */
const char *scribe_bytes_get_name(const struct scribe_bytes *from, size_t *at, uint64_t *ret_id, size_t *ret_bytes);

#endif
