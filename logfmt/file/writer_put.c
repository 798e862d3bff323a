/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writer's file, and the compressed stream of the open region. Streams that were compressed elsewhere can
 * be inserted between two. The first failure stays in w->failed. Must not know the order of regions.
 */
#include "logfmt/file/writer_put.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int scribe_log_put_failed(struct scribe_writer *w, int code, const char *what)
{
	w->failed = code;
	return scribe_err_set(&w->err, code, "cannot write the log at offset %llu: %s%s%s", (unsigned long long)w->off,
			      what, code > -4000 ? ": " : "", code > -4000 ? strerror(-code) : "");
}

int scribe_log_put_at(struct scribe_writer *w, const void *bytes, size_t n, uint64_t off)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = pwrite(w->fd, p, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return scribe_log_put_failed(w, -errno, "write");
		p += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

/* The sink of the region's pack. */
static int put_packed(void *to, const void *bytes, size_t n)
{
	struct scribe_writer *w = to;
	int rc = scribe_log_put_at(w, bytes, n, w->off);

	w->off += rc ? 0 : n;
	return rc;
}

static int checked(struct scribe_writer *w, int rc)
{
	/* A failed sink has set w->failed with its message; only the compressor's failures are added. */
	return rc && !w->failed ? scribe_log_put_failed(w, rc, "compression failed") : rc;
}

int scribe_log_put(struct scribe_writer *w, const void *bytes, size_t n)
{
	return checked(w, scribe_pack_put(w->pack, bytes, n));
}

static int begin_stream(struct scribe_writer *w)
{
	w->pack = scribe_pack_new(w->options.compression, w->options.level, put_packed, w);
	return w->pack ? 0 : scribe_log_put_failed(w, -ENOMEM, "compression");
}

static int end_stream(struct scribe_writer *w)
{
	int rc = 0;

	if (scribe_pack_is_used(w->pack) || w->off == w->region_at)
		rc = checked(w, scribe_pack_end(w->pack));
	w->pack = scribe_pack_free(w->pack);
	return rc;
}

int scribe_log_put_packed(struct scribe_writer *w, const void *bytes, size_t n)
{
	int rc = scribe_pack_is_used(w->pack) ? end_stream(w) : 0;

	if (rc == 0 && !w->pack)
		rc = begin_stream(w);
	return rc ? rc : put_packed(w, bytes, n);
}

bool scribe_log_put_is_open(const struct scribe_writer *w)
{
	return w->pack;
}

int scribe_log_put_begin(struct scribe_writer *w, int stage)
{
	w->stage = stage;
	w->region_at = w->off;
	return begin_stream(w);
}

static void note_unified(struct scribe_writer *w, uint64_t len)
{
	if (w->stage == STAGE_NAMES)
		w->unified.names_bytes = len;
	else if (w->stage == STAGE_TABLE)
		w->unified.job_bytes = len;
	else
		w->unified.records_bytes = len;
}

int scribe_log_put_end(struct scribe_writer *w)
{
	struct scribe_log_map map;
	int rc;

	if (!w->pack)
		return 0;
	rc = end_stream(w);
	if (rc)
		return rc;
	map = (struct scribe_log_map){w->region_at, w->off - w->region_at};
	if (scribe_log_is_unified(w))
		note_unified(w, map.len);
	else if (w->stage == STAGE_JOB) /* readers take the name region's start for the job's end */
		w->header.name_map.off = w->off;
	else if (w->stage == STAGE_NAMES)
		w->header.name_map = map;
	else if (w->stage >= STAGE_MODULES)
		w->header.mod_map[w->stage - STAGE_MODULES] = map;
	return 0;
}

int scribe_log_put_scratch(struct scribe_writer *w, size_t n)
{
	void *bytes;

	if (n <= w->scratch_capacity)
		return 0;
	bytes = realloc(w->scratch, n);
	if (!bytes)
		return scribe_log_put_failed(w, -ENOMEM, "record");
	w->scratch = bytes;
	w->scratch_capacity = n;
	return 0;
}
