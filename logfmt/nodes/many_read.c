/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One node's two parts (what ranks delivered, what came later) in a bundle of the caller. Must not know other
 * nodes.
 */
#include "logfmt/nodes/many_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"

#define PATH_BYTES  4400
#define PIECE_BYTES (256u << 10) /* per read */

static uint64_t hash_of(const struct scribe_join *j, const char *node, const char *kind, uint64_t hash)
{
	char path[PATH_BYTES], *bytes = malloc(PIECE_BYTES);
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%s.%s", j->world->dir, j->world->name, node, kind);
	/* A failure is not reported, because read_part has already opened the file. */
	fd = bytes ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	while (fd >= 0 && (n = read(fd, bytes, PIECE_BYTES)) > 0)
		hash = scribe_hash64(bytes, (size_t)n, hash);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return hash;
}

static int read_part(const struct scribe_join *j, const char *node, const char *kind, struct scribe_bundle *b,
		     uint64_t *partial, struct scribe_err *err)
{
	struct scribe_reader *r = NULL;
	int rc = scribe_join_open(j, node, kind, &r, err);

	if (rc < 0)
		return rc;
	*partial |= scribe_reader_header(r)->partial_flag;
	rc = scribe_bundle_join(b, r, scribe_join_lag(j, r), err);
	scribe_reader_free(r);
	return rc;
}

/* The part with what came later is required. */
int scribe_many_read(const struct scribe_join *j, size_t node, struct scribe_bundle *b, uint64_t *partial,
		     uint64_t *ret_hash, struct scribe_err *err)
{
	static const char *const kinds[] = {SCRIBE_PART_FIRST, SCRIBE_PART_LATE};
	const char *name = j->world->node[node];
	uint64_t hash = 0;

	for (size_t i = 0; i < 2; i++) {
		int rc = read_part(j, name, kinds[i], b, partial, err);

		if (rc == -ENOENT && i == 0) { /* its ranks delivered nothing */
			*err = (struct scribe_err){0};
			continue;
		}
		if (rc < 0)
			return rc;
		if (ret_hash)
			hash = hash_of(j, name, kinds[i], hash);
	}
	if (ret_hash)
		*ret_hash = hash;
	return 0;
}
