/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of batches, from which a stopped merge continues: a head and items padded to 8 bytes, in the layout of memory,
 * because the same program on the same machine reads them. Must not know the items' contents.
 */
#include "logfmt/nodes/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x316c6f6f70736f69ull /* "iospool1" */

struct head {
	uint64_t magic, plan, bytes; /* plan: hash of all that determines the batch (survey.h) */
};

struct scribe_parts_spool {
	FILE *f;
	uint64_t plan, bytes;
	int failed;
};

struct scribe_parts_spool *scribe_spool_create(const char *path, uint64_t plan)
{
	struct scribe_parts_spool *s = calloc(1, sizeof(*s));
	const struct head none = {0};
	int fd;

	unlink(path);
	fd = s ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	if (s)
		s->f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!s || !s->f) {
		if (fd >= 0)
			close(fd);
		free(s);
		return NULL;
	}
	s->plan = plan;
	s->bytes = sizeof(none);
	s->failed = fwrite(&none, sizeof(none), 1, s->f) == 1 ? 0 : -EIO;
	return s;
}

int scribe_spool_put(struct scribe_parts_spool *s, enum scribe_spool_kind kind, int module, uint64_t id,
		     const void *bytes, size_t n)
{
	const struct scribe_spool_item item = {(uint32_t)kind, (uint32_t)module, id, n};
	static const char zeros[8];
	size_t pad = -n & 7;

	if (s->failed)
		return s->failed;
	errno = 0;
	if (fwrite(&item, sizeof(item), 1, s->f) != 1 || (n && fwrite(bytes, n, 1, s->f) != 1) ||
	    (pad && fwrite(zeros, pad, 1, s->f) != 1))
		s->failed = errno ? -errno : -EIO;
	s->bytes += sizeof(item) + n + pad;
	return s->failed;
}

int scribe_spool_finish(struct scribe_parts_spool *s, bool whole)
{
	const struct head head = {MAGIC, s->plan, s->bytes};
	int rc = s->failed;

	/* The head is written after fdatasync. Without it the next merge writes the file again. */
	if (rc == 0 && whole &&
	    (fflush(s->f) || fdatasync(fileno(s->f)) < 0 ||
	     pwrite(fileno(s->f), &head, sizeof(head), 0) != (ssize_t)sizeof(head)))
		rc = errno ? -errno : -EIO;
	fclose(s->f);
	free(s);
	return rc;
}

/* A descriptor, or a negative code. */
static int open_whole(const char *path, uint64_t plan, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct head head;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    head.magic == MAGIC && head.plan == plan && head.bytes == (uint64_t)st.st_size) {
		*ret_bytes = (size_t)head.bytes;
		return fd;
	}
	close(fd);
	return -ESTALE;
}

bool scribe_spool_is_whole(const char *path, uint64_t plan)
{
	size_t bytes;
	int fd = open_whole(path, plan, &bytes);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void *scribe_spool_map(const char *path, uint64_t plan, size_t *ret_bytes)
{
	int fd = open_whole(path, plan, ret_bytes);
	void *p;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	p = mmap(NULL, *ret_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void scribe_spool_unmap(void *spool, size_t bytes)
{
	if (spool)
		munmap(spool, bytes);
}

/* NULL also for an item that reaches past the file's end. */
const struct scribe_spool_item *scribe_spool_next(const void *spool, size_t bytes, size_t *at, const void **ret_data)
{
	size_t here = *at ? *at : sizeof(struct head), left = bytes - here;
	const struct scribe_spool_item *item = (const void *)((const char *)spool + here);

	if (here >= bytes || left < sizeof(*item) || item->bytes > left - sizeof(*item))
		return NULL;
	*ret_data = item + 1;
	*at = here + sizeof(*item) + (size_t)((item->bytes + 7) & ~7ull);
	return item;
}
