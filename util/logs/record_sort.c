// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sorting records that may not fit into memory: sorted batches go to a temporary
 * file, reading merges them. Must not know: what records mean.
 */
#include "util/logs/record_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/records/hashmap.h"

#define BATCH_BYTES  (24u << 20)
#define WINDOW_BYTES (64u << 10)

/* In front of each record, in a batch and in the file. */
struct head {
	uint64_t file, id;
	int64_t rank;
	uint64_t order; /* in the log */
	uint64_t module, len;
};

/* A sorted batch in the file, as it is read. */
struct run {
	uint64_t at, end; /* of what is not read yet, in the file */
	char *window;
	uint64_t window_at; /* in the file */
	size_t window_bytes;
	struct head head; /* of its next record */
};

struct scribe_record_sort {
	const struct scribe_record_sort *after;
	struct scribe_map files; /* id -> its number + 1 */
	uint64_t nfiles, places; /* numbers given, those of `after` included; records seen */
	char *batch;
	size_t bytes, room, limit;
	size_t *index; /* where in the batch records begin, then in order */
	size_t n, index_room, next;
	int fd; /* -1: everything is in the batch */
	uint64_t file_bytes;
	struct run *runs;
	size_t nruns;
	size_t *heap; /* of runs, the least in front */
	size_t heap_n;
	char *large; /* a record beyond a window */
	size_t large_room;
	struct scribe_record record;
};

static int no_memory(struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "sorting records: out of memory");
}

static int compare_heads(const struct head *a, const struct head *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

int scribe_record_compare(const struct scribe_record *a, const struct scribe_record *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static uint64_t known(const struct scribe_record_sort *s, uint64_t id)
{
	return s ? (uint64_t)(uintptr_t)scribe_map_get(&s->files, id) : 0;
}

/* The number of an id's file, a new one where it has none. */
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

static const struct head *head_at(const struct scribe_record_sort *s, size_t at)
{
	return (const struct head *)(const void *)(s->batch + at);
}

static int by_head(const void *a, const void *b, void *ctx)
{
	return compare_heads(head_at(ctx, *(const size_t *)a), head_at(ctx, *(const size_t *)b));
}

static void sort_batch(struct scribe_record_sort *s)
{
	if (s->n)
		qsort_r(s->index, s->n, sizeof(*s->index), by_head, s);
}

static size_t bytes_of(const struct head *h)
{
	return sizeof(*h) + (size_t)((h->len + 7) / 8 * 8);
}

/* ---- batches to the file ---- */

static int open_file(struct scribe_record_sort *s, struct scribe_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];

	dir = dir && dir[0] ? dir : "/tmp";
	snprintf(path, sizeof(path), "%s/ioscribe-XXXXXX", dir);
	s->fd = mkostemp(path, O_CLOEXEC);
	if (s->fd < 0)
		return scribe_err_set(err, -errno, "a temporary file in %s (TMPDIR): %s", dir, strerror(errno));
	unlink(path);
	return 0;
}

static int write_all(struct scribe_record_sort *s, const char *data, size_t bytes, struct scribe_err *err)
{
	while (bytes) {
		ssize_t n = pwrite(s->fd, data, bytes, (off_t)s->file_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return scribe_err_set(err, n < 0 ? -errno : -EIO, "a temporary file (TMPDIR): %s",
					      strerror(n < 0 ? errno : EIO));
		data += n;
		bytes -= (size_t)n;
		s->file_bytes += (uint64_t)n;
	}
	return 0;
}

/* The batch, sorted, becomes a run of the file. */
static int write_batch(struct scribe_record_sort *s, struct scribe_err *err)
{
	struct run *more = realloc(s->runs, (s->nruns + 1) * sizeof(*more));
	char *out = malloc(WINDOW_BYTES);
	size_t used = 0;
	int rc = more && out ? 0 : no_memory(err);

	if (more)
		s->runs = more;
	if (rc == 0 && s->fd < 0)
		rc = open_file(s, err);
	if (rc == 0)
		s->runs[s->nruns++] = (struct run){.at = s->file_bytes};
	sort_batch(s);
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		const struct head *h = head_at(s, s->index[i]);
		size_t bytes = bytes_of(h);

		if (used && used + bytes > WINDOW_BYTES) {
			rc = write_all(s, out, used, err);
			used = 0;
		}
		if (rc == 0 && bytes > WINDOW_BYTES) {
			rc = write_all(s, (const char *)h, bytes, err);
		} else if (rc == 0) {
			memcpy(out + used, h, bytes);
			used += bytes;
		}
	}
	if (rc == 0 && used)
		rc = write_all(s, out, used, err);
	if (rc == 0)
		s->runs[s->nruns - 1].end = s->file_bytes;
	free(out);
	s->n = s->bytes = 0;
	return rc;
}

static int batch_room(struct scribe_record_sort *s, size_t bytes)
{
	if (s->n == s->index_room) {
		size_t room = s->index_room ? 2 * s->index_room : 1024;
		size_t *more = realloc(s->index, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->index = more;
		s->index_room = room;
	}
	if (s->bytes + bytes > s->room) {
		size_t room = s->room ? 2 * s->room : 1u << 16;
		char *more;

		while (room < s->bytes + bytes)
			room *= 2;
		if (room > s->limit)
			room = s->bytes + bytes > s->limit ? s->bytes + bytes : s->limit;
		more = realloc(s->batch, room);
		if (!more)
			return -ENOMEM;
		s->batch = more;
		s->room = room;
	}
	return 0;
}

static int add(struct scribe_record_sort *s, int module, const void *data, size_t len, struct scribe_err *err)
{
	const struct scribe_base_record *base = data;
	struct head h = {
		.id = base->id, .rank = base->rank, .order = s->places++, .module = (uint64_t)module, .len = len};
	size_t bytes = bytes_of(&h);

	if (number(s, base->id, &h.file) < 0)
		return no_memory(err);
	if (s->n && s->bytes + bytes > s->limit) {
		int rc = write_batch(s, err);

		if (rc < 0)
			return rc;
	}
	if (batch_room(s, bytes) < 0)
		return no_memory(err);
	s->index[s->n++] = s->bytes;
	memcpy(s->batch + s->bytes, &h, sizeof(h));
	memcpy(s->batch + s->bytes + sizeof(h), data, len);
	memset(s->batch + s->bytes + sizeof(h) + len, 0, bytes - sizeof(h) - len);
	s->bytes += bytes;
	return 0;
}

/* ---- runs, merged ---- */

/* `bytes` at the run's place, from its window or, where they are too many, read on their own. */
static int peek(struct scribe_record_sort *s, struct run *r, uint64_t at, size_t bytes, const char **ret,
		struct scribe_err *err)
{
	char *to = r->window;
	size_t want = WINDOW_BYTES, have = 0;

	if (at >= r->window_at && at + bytes <= r->window_at + r->window_bytes) {
		*ret = r->window + (at - r->window_at);
		return 0;
	}
	if (bytes > WINDOW_BYTES) {
		if (bytes > s->large_room) {
			char *more = realloc(s->large, bytes);

			if (!more)
				return no_memory(err);
			s->large = more;
			s->large_room = bytes;
		}
		to = s->large;
		want = bytes;
	}
	if (want > r->end - at)
		want = (size_t)(r->end - at);
	while (have < want) {
		ssize_t n = pread(s->fd, to + have, want - have, (off_t)(at + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return scribe_err_set(err, n < 0 ? -errno : -EIO, "a temporary file (TMPDIR): %s",
					      strerror(n < 0 ? errno : EIO));
		have += (size_t)n;
	}
	if (to == r->window) {
		r->window_at = at;
		r->window_bytes = have;
	}
	*ret = to;
	return 0;
}

static int peek_head(struct scribe_record_sort *s, struct run *r, struct scribe_err *err)
{
	const char *p;
	int rc = peek(s, r, r->at, sizeof(r->head), &p, err);

	if (rc == 0)
		memcpy(&r->head, p, sizeof(r->head));
	return rc;
}

static int run_less(const struct scribe_record_sort *s, size_t a, size_t b)
{
	return compare_heads(&s->runs[s->heap[a]].head, &s->runs[s->heap[b]].head) < 0;
}

static void swap(struct scribe_record_sort *s, size_t a, size_t b)
{
	size_t t = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = t;
}

/* The first of the heap may have become greater. */
static void sink(struct scribe_record_sort *s, size_t i)
{
	for (;;) {
		size_t least = i, child = 2 * i + 1;

		for (size_t k = child; k < child + 2 && k < s->heap_n; k++)
			if (run_less(s, k, least))
				least = k;
		if (least == i)
			return;
		swap(s, i, least);
		i = least;
	}
}

static int open_runs(struct scribe_record_sort *s, struct scribe_err *err)
{
	s->heap = calloc(s->nruns, sizeof(*s->heap));
	if (!s->heap)
		return no_memory(err);
	for (size_t i = 0; i < s->nruns; i++) {
		int rc;

		s->runs[i].window = malloc(WINDOW_BYTES);
		if (!s->runs[i].window)
			return no_memory(err);
		rc = peek_head(s, &s->runs[i], err);
		if (rc < 0)
			return rc;
		s->heap[s->heap_n++] = i;
	}
	for (size_t i = s->heap_n; i-- > 0;)
		sink(s, i);
	return 0;
}

static int finish(struct scribe_record_sort *s, struct scribe_err *err)
{
	int rc;

	if (s->fd < 0) {
		sort_batch(s);
		return 0;
	}
	rc = s->n ? write_batch(s, err) : 0;
	free(s->batch);
	free(s->index);
	s->batch = NULL;
	s->index = NULL;
	return rc < 0 ? rc : open_runs(s, err);
}

static void give(struct scribe_record_sort *s, const struct head *h, const void *data)
{
	s->record = (struct scribe_record){.file = h->file,
					   .module = (int)h->module,
					   .rank = h->rank,
					   .id = h->id,
					   .data = data,
					   .len = (size_t)h->len};
}

/* Of the run in front; passed over by the next call, for its data are the window's. */
static int next_merged(struct scribe_record_sort *s, struct scribe_err *err)
{
	struct run *r = &s->runs[s->heap[0]];
	const char *p;
	int rc;

	if (s->record.data) {
		r->at += bytes_of(&r->head);
		s->record.data = NULL;
		if (r->at == r->end) {
			free(r->window);
			r->window = NULL;
			s->heap[0] = s->heap[--s->heap_n];
		} else {
			rc = peek_head(s, r, err);
			if (rc < 0)
				return rc;
		}
		sink(s, 0);
	}
	if (!s->heap_n)
		return 0;
	r = &s->runs[s->heap[0]];
	rc = peek(s, r, r->at, bytes_of(&r->head), &p, err);
	if (rc == 0)
		give(s, &r->head, p + sizeof(r->head));
	return rc;
}

int scribe_record_sort_next(struct scribe_record_sort *s, const struct scribe_record **ret_record,
			    struct scribe_err *err)
{
	*ret_record = NULL;
	if (s->fd < 0) {
		if (s->next == s->n)
			return 0;
		give(s, head_at(s, s->index[s->next]), s->batch + s->index[s->next] + sizeof(struct head));
		s->next++;
	} else {
		int rc = s->heap_n ? next_merged(s, err) : 0;

		if (rc < 0 || !s->heap_n)
			return rc;
	}
	*ret_record = &s->record;
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
		       const struct scribe_record_sort *after, size_t batch, struct scribe_record_sort **ret_s,
		       struct scribe_err *err)
{
	struct scribe_record_sort *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return no_memory(err);
	s->fd = -1;
	s->after = after;
	s->nfiles = after ? after->nfiles : 0;
	s->limit = batch ? batch : BATCH_BYTES;
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++)
		if (scribe_reader_has(r, i) && wanted(ctx, i))
			rc = read_module(s, r, i, err);
	if (rc >= 0)
		rc = finish(s, err);
	if (rc < 0)
		s = scribe_record_sort_free(s);
	*ret_s = s;
	return rc < 0 ? rc : 0;
}

struct scribe_record_sort *scribe_record_sort_free(struct scribe_record_sort *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->nruns; i++)
		free(s->runs[i].window);
	scribe_map_clear(&s->files);
	if (s->fd >= 0)
		close(s->fd);
	free(s->batch);
	free(s->index);
	free(s->runs);
	free(s->heap);
	free(s->large);
	free(s);
	return NULL;
}
