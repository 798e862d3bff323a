// SPDX-License-Identifier: BSD-3-Clause
/* Sorts records through an unlinked temporary file. Must not know what records mean. */
#include "util/logs/record_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/records/hashmap.h"

struct entry {
	uint64_t file, id;
	int64_t rank;
	uint64_t at; /* offset in the temporary file, and the order in the log */
	uint32_t module;
	uint32_t len;
};

struct scribe_record_sort {
	const struct scribe_record_sort *after;
	struct scribe_map files; /* id -> number + 1, by first appearance in both logs */
	uint64_t nfiles;         /* with those of `after` */
	FILE *copy;              /* all records */
	uint64_t copy_bytes;
	struct entry *entries;
	size_t n, capacity, next;
	void *bytes; /* of the current record */
	size_t bytes_capacity;
	struct scribe_record record;
};

static int no_memory(struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "sorting records: out of memory");
}

static int file_failed(struct scribe_err *err)
{
	int code = errno ? errno : EIO; /* 0: the file ended early */

	return scribe_err_set(err, -code, "temporary file in TMPDIR: %s", strerror(code));
}

static int compare(uint64_t file_a, int module_a, int64_t rank_a, uint64_t file_b, int module_b, int64_t rank_b)
{
	if (file_a != file_b)
		return file_a < file_b ? -1 : 1;
	if (module_a != module_b)
		return module_a < module_b ? -1 : 1;
	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b)
{
	return compare(a->file, a->module, a->rank, b->file, b->module, b->rank);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare(x->file, (int)x->module, x->rank, y->file, (int)y->module, y->rank);

	/* Equal keys keep the order of the log. */
	return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

static uint64_t known(const struct scribe_record_sort *s, uint64_t id)
{
	return s ? (uint64_t)(uintptr_t)scribe_map_get(&s->files, id) : 0;
}

/* A file's number; `after` decides if it has the id. */
static int number(struct scribe_record_sort *s, uint64_t id, uint64_t *ret_file)
{
	uint64_t n = known(s->after, id);

	if (!n)
		n = known(s, id);
	if (!n) {
		n = ++s->nfiles;
		if (scribe_map_put(&s->files, id, (void *)(uintptr_t)n) < 0)
			return -ENOMEM;
	}
	*ret_file = n - 1;
	return 0;
}

static int open_copy(struct scribe_record_sort *s, struct scribe_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	dir = dir && dir[0] ? dir : "/tmp";
	snprintf(path, sizeof(path), "%s/ioscribe-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return scribe_err_set(err, -errno, "a temporary file in %s (TMPDIR): %s", dir, strerror(errno));
	unlink(path); /* no other process can open it, and it vanishes with the descriptor */
	s->copy = fdopen(fd, "w+");
	if (s->copy)
		return 0;
	close(fd);
	return no_memory(err);
}

static int add(struct scribe_record_sort *s, int module, const void *data, size_t len, struct scribe_err *err)
{
	const struct scribe_base_record *base = data;
	struct entry e = {.id = base->id,
			  .rank = base->rank,
			  .at = s->copy_bytes,
			  .module = (uint32_t)module,
			  .len = (uint32_t)len};

	if (number(s, base->id, &e.file) < 0)
		return no_memory(err);
	if (s->n == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 1024;
		struct entry *more = realloc(s->entries, capacity * sizeof(*more));

		if (!more)
			return no_memory(err);
		s->entries = more;
		s->capacity = capacity;
	}
	errno = 0;
	if (fwrite(data, 1, len, s->copy) != len)
		return file_failed(err);
	s->copy_bytes += len;
	s->entries[s->n++] = e;
	return 0;
}

static int read_module(struct scribe_record_sort *s, struct scribe_reader *r, int module, struct scribe_err *err)
{
	const void *data;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(r, module, &data, &len)) > 0) {
		rc = add(s, module, data, len, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		*err = *scribe_reader_error(r);
	return rc;
}

int scribe_record_sort(struct scribe_reader *r, int (*wanted)(void *ctx, int module), void *ctx,
		       const struct scribe_record_sort *after, struct scribe_record_sort **ret_s,
		       struct scribe_err *err)
{
	struct scribe_record_sort *s = calloc(1, sizeof(*s));
	int rc;

	*ret_s = NULL;
	if (!s)
		return no_memory(err);
	s->after = after;
	s->nfiles = after ? after->nfiles : 0;
	rc = open_copy(s, err);
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++)
		if (scribe_reader_has(r, i) && wanted(ctx, i))
			rc = read_module(s, r, i, err);
	errno = 0;
	if (rc >= 0 && fflush(s->copy))
		rc = file_failed(err);
	if (rc < 0) {
		scribe_record_sort_free(s);
		return rc;
	}
	if (s->n)
		qsort(s->entries, s->n, sizeof(*s->entries), compare_entries);
	*ret_s = s;
	return 0;
}

static int fetch(struct scribe_record_sort *s, const struct entry *e, struct scribe_err *err)
{
	size_t have = 0;

	if (e->len > s->bytes_capacity) {
		void *more = realloc(s->bytes, e->len);

		if (!more)
			return no_memory(err);
		s->bytes = more;
		s->bytes_capacity = e->len;
	}
	while (have < e->len) {
		ssize_t n = pread(fileno(s->copy), (char *)s->bytes + have, e->len - have, (off_t)(e->at + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			return file_failed(err);
		have += (size_t)n;
	}
	return 0;
}

int scribe_record_sort_next(struct scribe_record_sort *s, const struct scribe_record **ret_record,
			    struct scribe_err *err)
{
	const struct entry *e;
	int rc;

	*ret_record = NULL;
	if (s->next == s->n)
		return 0;
	e = &s->entries[s->next];
	rc = fetch(s, e, err);
	if (rc < 0)
		return rc;
	s->record = (struct scribe_record){.file = e->file,
					   .module = (int)e->module,
					   .rank = e->rank,
					   .id = e->id,
					   .data = s->bytes,
					   .len = e->len};
	s->next++;
	*ret_record = &s->record;
	return 0;
}

struct scribe_record_sort *scribe_record_sort_free(struct scribe_record_sort *s)
{
	if (!s)
		return NULL;
	scribe_map_clear(&s->files);
	if (s->copy)
		fclose(s->copy);
	free(s->entries);
	free(s->bytes);
	free(s);
	return NULL;
}
