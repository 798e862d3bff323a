/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One node's parts: what its ranks handed over, and what came later; joined into a bundle, which
 * the caller clears. Runs in the threads of a merge. Must not know other nodes.
 */
#include "logfmt/nodes/many_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"

/* Buffers of a path and of a read. */
#define PATH_BYTES  4400
#define PIECE_BYTES (256u << 10)

/* Of all bytes of a file; one that cannot be read has failed to open before. */
static uint64_t hash_of(const struct scribe_join *j, const char *node, const char *kind, uint64_t hash)
{
	char path[PATH_BYTES], *bytes = malloc(PIECE_BYTES);
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%s.%s", j->world->dir, j->world->name, node, kind);
	fd = bytes ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	while (fd >= 0 && (n = read(fd, bytes, PIECE_BYTES)) > 0)
		hash = scribe_hash64(bytes, (size_t)n, hash);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return hash;
}

/* Times are moved to the start of the joined job while the records are added. */
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

/*
 * Records of the same file and rank in both parts become one; the part with what came later must be
 * there.
 */
int scribe_many_read(const struct scribe_join *j, size_t node, struct scribe_bundle *b, uint64_t *partial,
		     uint64_t *ret_hash, struct scribe_err *err)
{
	static const char *const kinds[] = {SCRIBE_PART_FIRST, SCRIBE_PART_LATE};
	const char *name = j->world->node[node];
	uint64_t hash = 0;

	for (size_t i = 0; i < 2; i++) {
		int rc = read_part(j, name, kinds[i], b, partial, err);

		if (rc == -ENOENT && i == 0) { /* its ranks had not come so far */
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
