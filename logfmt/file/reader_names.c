/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader's names: three forms of the name region, and the region of exact names (docs/format.md, "Names
 * with a NUL", "The single-region layout"). A name's bytes are valid until the next call. Must not know
 * records.
 */
#include "logfmt/file/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/escape.h"
#include "logfmt/file/reader_region.h"
#include "logfmt/file/reader_state.h"

#define NAME_STEP 256 /* bytes requested at first */

/* Log version 3.00 and exact names: id, 32-bit length, bytes. */
static int counted_name(struct scribe_reader *r, struct scribe_region_stream *s, struct scribe_name *ret_name)
{
	const char *p;
	size_t avail, head = 12;
	uint32_t len;
	int rc = scribe_region_stream_need(s, head, (const void **)&p, &avail, &r->err);

	if (rc || avail == 0)
		return rc;
	if (avail < head)
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
	memcpy(&ret_name->id, p, 8);
	memcpy(&len, p + 8, 4);
	if (r->info.swapped) {
		ret_name->id = __builtin_bswap64(ret_name->id);
		len = __builtin_bswap32(len);
	}
	if (len > SCRIBE_MAX_NAME_BYTES)
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_LIMIT, "a name of %u bytes, at most %u", len,
						  SCRIBE_MAX_NAME_BYTES);
	rc = scribe_region_stream_need(s, head + len, (const void **)&p, &avail, &r->err);
	if (rc)
		return rc;
	if (avail < head + len)
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
	/* The head was used, so the name moves over it, which leaves a byte for the NUL. */
	memmove((char *)p, p + head, len);
	((char *)p)[len] = 0;
	ret_name->bytes = p;
	ret_name->len = len;
	scribe_region_stream_skip(s, head + len);
	return 1;
}

/* From log version 3.10 on: id, bytes, NUL. */
static int next_name(struct scribe_reader *r, struct scribe_name *ret_name)
{
	struct scribe_region_stream *s = r->names.stream;
	size_t want = NAME_STEP, seen = 8, avail;
	const char *p;

	for (;;) {
		const char *nul;
		int rc = scribe_region_stream_need(s, want, (const void **)&p, &avail, &r->err);

		if (rc)
			return rc;
		if (avail == 0)
			return 0;
		nul = avail > seen ? memchr(p + seen, 0, avail - seen) : NULL;
		if (nul) {
			memcpy(&ret_name->id, p, 8);
			if (r->info.swapped)
				ret_name->id = __builtin_bswap64(ret_name->id);
			ret_name->bytes = p + 8;
			ret_name->len = (size_t)(nul - p) - 8;
			scribe_region_stream_skip(s, (size_t)(nul - p) + 1);
			return 1;
		}
		if (avail < want)
			return scribe_region_stream_error(s, &r->err, -SCRIBE_E_TRUNCATED,
							  "ends in the middle of a name (%zu bytes left)", avail);
		if (avail > 8 + SCRIBE_MAX_NAME_BYTES)
			return scribe_region_stream_error(s, &r->err, -SCRIBE_E_LIMIT, "a name of more than %u bytes",
							  SCRIBE_MAX_NAME_BYTES);
		seen = avail;
		want = avail * 2;
	}
}

static int exact_name(struct scribe_reader *r, struct scribe_name *ret_name)
{
	int rc = scribe_log_region_open(r, &r->exact, "exact name", &r->exact_map);

	if (rc)
		return rc;
	rc = counted_name(r, r->exact.stream, ret_name);
	if (rc < 0)
		r->exact.failed = rc;
	r->exact_done = rc == 0;
	return rc;
}

static int shorten(struct scribe_reader *r, struct scribe_name *name)
{
	if (!r->plain_names || !memchr(name->bytes, 0, name->len))
		return 1;
	if (!r->stand_in)
		r->stand_in = malloc(SCRIBE_STAND_IN_BYTES);
	if (!r->stand_in)
		return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	scribe_name_escape(name->bytes, name->len, r->stand_in, SCRIBE_STAND_IN_BYTES);
	name->bytes = r->stand_in;
	name->len = strlen(r->stand_in);
	return 1;
}

/* Single-region layout: twice the length, plus one if the id is the name's hash and therefore not stored. */
static int unified_name(struct scribe_reader *r, struct scribe_name *ret_name)
{
	struct scribe_region_stream *s = r->names.stream;
	const char *p;
	size_t avail, head, len;
	uint32_t word;
	int rc = scribe_region_stream_need(s, sizeof(word), (const void **)&p, &avail, &r->err);

	if (rc || avail == 0)
		return rc;
	if (avail < sizeof(word))
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
	memcpy(&word, p, sizeof(word));
	if (r->info.swapped)
		word = __builtin_bswap32(word);
	head = word & 1 ? sizeof(word) : sizeof(word) + sizeof(ret_name->id);
	len = word >> 1;
	if (len > SCRIBE_MAX_NAME_BYTES)
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_LIMIT, "a name of %zu bytes, at most %u", len,
						  SCRIBE_MAX_NAME_BYTES);
	rc = scribe_region_stream_need(s, head + len, (const void **)&p, &avail, &r->err);
	if (rc)
		return rc;
	if (avail < head + len)
		return scribe_region_stream_error(s, &r->err, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
	if (word & 1)
		ret_name->id = scribe_record_id(p + head, len);
	else
		memcpy(&ret_name->id, p + sizeof(word), sizeof(ret_name->id));
	if (!(word & 1) && r->info.swapped)
		ret_name->id = __builtin_bswap64(ret_name->id);
	memmove((char *)p, p + head, len);
	((char *)p)[len] = 0;
	ret_name->bytes = p;
	ret_name->len = len;
	scribe_region_stream_skip(s, head + len);
	return shorten(r, ret_name);
}

int scribe_reader_next_name(struct scribe_reader *r, struct scribe_name *ret_name)
{
	int rc;

	/* Exact names first, so that the exact one of several names with the same id counts. */
	if (r->exact_map.len && !r->exact_done && !r->plain_names) {
		rc = exact_name(r, ret_name);
		if (rc)
			return rc;
	}
	if (r->header.name_map.len == 0)
		return 0;
	rc = scribe_log_region_open(r, &r->names, "name", &r->header.name_map);
	if (rc)
		return rc;
	if (r->info.layout == SCRIBE_LAYOUT_UNIFIED)
		rc = unified_name(r, ret_name);
	else
		rc = r->info.version == 300 ? counted_name(r, r->names.stream, ret_name) : next_name(r, ret_name);
	if (rc < 0)
		r->names.failed = rc;
	return rc;
}

void scribe_reader_rewind_names(struct scribe_reader *r)
{
	scribe_log_region_reset(&r->names);
	scribe_log_region_reset(&r->exact);
	r->exact_done = false;
}
