/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing bytes in memory, and packed names among them. The owner frees `at`. Each thread of a merge uses its own. */
#include "logfmt/nodes/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int scribe_bytes_room(struct scribe_bytes *to, size_t n)
{
	size_t capacity = 2 * (to->n + n) + 4096;
	char *more;

	if (n <= to->capacity - to->n)
		return 0;
	more = realloc(to->at, capacity);
	if (!more)
		return -ENOMEM;
	to->at = more;
	to->capacity = capacity;
	return 0;
}

int scribe_bytes_put(struct scribe_bytes *to, const void *bytes, size_t n)
{
	if (scribe_bytes_room(to, n) < 0)
		return -ENOMEM;
	if (n)
		memcpy(to->at + to->n, bytes, n);
	to->n += n;
	return 0;
}

int scribe_bytes_put_name(struct scribe_bytes *to, uint64_t id, const char *text, size_t bytes)
{
	uint32_t n = (uint32_t)bytes;
	int rc = scribe_bytes_put(to, &id, sizeof(id));

	if (rc == 0)
		rc = scribe_bytes_put(to, &n, sizeof(n));
	return rc ? rc : scribe_bytes_put(to, text, bytes);
}

/* The text is in from->at, which moves when bytes are put. */
const char *scribe_bytes_get_name(const struct scribe_bytes *from, size_t *at, uint64_t *ret_id, size_t *ret_bytes)
{
	const char *p = from->at + *at;
	uint32_t n;

	memcpy(ret_id, p, sizeof(*ret_id));
	memcpy(&n, p + sizeof(*ret_id), sizeof(n));
	*ret_bytes = n;
	*at += sizeof(*ret_id) + sizeof(n) + n;
	return p + sizeof(*ret_id) + sizeof(n);
}

int scribe_bytes_sink(void *to, const void *bytes, size_t n)
{
	return scribe_bytes_put(to, bytes, n);
}
