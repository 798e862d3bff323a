/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of one module out of the region that holds all (docs/format.md, "The single-region layout"). A struct
 * scribe_framed is a position in that region; as a supply it yields one module's records. Must not know what
 * follows a base record.
 */
#include "logfmt/file/framed.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/file/layout.h"

#define PIECE (64u << 10) /* bytes skipped per step */

struct scribe_framed {
	struct scribe_region_stream *plain;
	bool swapped, sorted, known; /* known: `next` was read and not used yet */
	uint64_t modules;            /* that have records by the log's table; a record of others is damage */
	/*
	 * `raw` is in the file's order: a record's first 16 bytes are passed on from it, because they are swapped
	 * later.
	 */
	struct scribe_unified_base next, raw;
	uint64_t left;
};

struct scribe_framed *scribe_framed_new(struct scribe_region_stream *plain, bool swapped, bool sorted, uint64_t modules)
{
	struct scribe_framed *f = plain ? calloc(1, sizeof(*f)) : NULL;

	if (!f) {
		scribe_region_stream_free(plain);
		return NULL;
	}
	f->plain = plain;
	f->swapped = swapped;
	f->sorted = sorted;
	f->modules = modules;
	return f;
}

struct scribe_framed *scribe_framed_free(struct scribe_framed *f)
{
	if (!f)
		return NULL;
	scribe_region_stream_free(f->plain);
	free(f);
	return NULL;
}

int scribe_framed_module(const struct scribe_framed *f)
{
	return f->known ? f->next.module : -1;
}

static void swap_base(struct scribe_unified_base *b)
{
	scribe_swap_words(b, 3);
	b->module = __builtin_bswap16(b->module);
	b->flags = __builtin_bswap16(b->flags);
	b->version = __builtin_bswap32(b->version);
}

/* `before`: the preceding record's module. */
static int check_base(const struct scribe_framed *f, const struct scribe_unified_base *b, int before,
		      struct scribe_err *err)
{
	if (b->module >= SCRIBE_MAX_MODULES || !(f->modules >> b->module & 1))
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_FORMAT,
						  "a record of module %d, which the log's table does not have",
						  b->module);
	if (b->flags & ~SCRIBE_UNIFIED_OPAQUE)
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_FORMAT, "a record with unknown flags 0x%x",
						  b->flags);
	if (b->bytes > SCRIBE_MAX_RECORD_BYTES)
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_LIMIT, "a record of %llu bytes, at most %u",
						  (unsigned long long)b->bytes, SCRIBE_MAX_RECORD_BYTES);
	if (f->sorted && b->module < before)
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_FORMAT,
						  "a record of module %d behind one of module %d", b->module, before);
	return 0;
}

/* Reads the next base record into f->next, without its record: 1, or 0 at the region's end. */
static int look(struct scribe_framed *f, struct scribe_err *err)
{
	const void *p;
	size_t avail;
	int before = f->next.module, rc;

	if (f->known)
		return 1;
	rc = scribe_region_stream_need(f->plain, sizeof(f->raw), &p, &avail, err);
	if (rc || avail == 0)
		return rc;
	if (avail < sizeof(f->raw))
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a base record (%zu bytes left)", avail);
	memcpy(&f->raw, p, sizeof(f->raw));
	scribe_region_stream_skip(f->plain, sizeof(f->raw));
	f->next = f->raw;
	if (f->swapped)
		swap_base(&f->next);
	rc = check_base(f, &f->next, before, err);
	f->known = rc == 0;
	return rc ? rc : 1;
}

/* Some bytes of the current record, at most `n`. */
static int some(struct scribe_framed *f, size_t n, const void **ret_p, size_t *ret_n, struct scribe_err *err)
{
	size_t avail, want = f->left < n ? (size_t)f->left : n;
	int rc = scribe_region_stream_need(f->plain, want < PIECE ? want : PIECE, ret_p, &avail, err);

	if (rc)
		return rc;
	if (avail == 0 && want)
		return scribe_region_stream_error(f->plain, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a record (%llu bytes missing)",
						  (unsigned long long)f->left);
	*ret_n = avail < want ? avail : want;
	scribe_region_stream_skip(f->plain, *ret_n);
	f->left -= *ret_n;
	return 0;
}

/* Skips the rest of the current record. */
static int pass(struct scribe_framed *f, struct scribe_err *err)
{
	const void *p;
	size_t n;
	int rc = 0;

	while (f->left && rc == 0)
		rc = some(f, SIZE_MAX, &p, &n, err);
	return rc;
}

/*
 * Skips records of other modules. 1: `next` and `raw` are the record's base, its bytes follow by some(). 0: none
 * left.
 */
static int find(struct scribe_framed *f, int module, struct scribe_err *err)
{
	int rc = pass(f, err);

	while (rc == 0) {
		rc = look(f, err);
		if (rc <= 0)
			return rc;
		if (f->next.module == module) {
			f->left = f->next.bytes;
			f->known = false;
			return 1;
		}
		/* Modules ascend, so the search is over. The base record stays known, for the next module's stream. */
		if (f->sorted && f->next.module > module)
			return 0;
		f->left = f->next.bytes;
		f->known = false;
		rc = pass(f, err);
	}
	return rc;
}

struct one_module {
	struct scribe_framed *f; /* owned; NULL: taken over */
	struct scribe_framed_want want;
	const struct scribe_region_stream *stream;
};

static int check_wanted(const struct one_module *o, const struct scribe_unified_base *base, struct scribe_err *err)
{
	if (base->flags & SCRIBE_UNIFIED_OPAQUE)
		return scribe_region_stream_error(o->stream, err, -SCRIBE_E_UNSUPPORTED,
						  "a record in an encoding of its own");
	if (base->version != o->want.version)
		return scribe_region_stream_error(o->stream, err, -SCRIBE_E_FORMAT,
						  "a record of version %u, its module has %u", base->version,
						  o->want.version);
	if (o->want.fixed_bytes && base->bytes + sizeof(struct scribe_base_record) != o->want.fixed_bytes)
		return scribe_region_stream_error(o->stream, err, -SCRIBE_E_FORMAT, "a record of %llu bytes, not %zu",
						  (unsigned long long)base->bytes,
						  o->want.fixed_bytes - sizeof(struct scribe_base_record));
	return 0;
}

/* 1: the first bytes of the next record are in `to`; 0: the end. */
static int begin_record(struct one_module *o, void *to, size_t *ret_n, struct scribe_err *err)
{
	struct scribe_framed *f = o->f;
	int rc = find(f, o->want.module, err);

	if (rc <= 0)
		return rc;
	rc = o->want.raw ? 0 : check_wanted(o, &f->next, err);
	if (rc)
		return rc;
	if (!(f->next.flags & SCRIBE_UNIFIED_OPAQUE)) {
		memcpy(to, &f->raw, sizeof(struct scribe_base_record));
		*ret_n = sizeof(struct scribe_base_record);
	}
	return 1;
}

static int read_records(void *from, void *to, size_t capacity, size_t *ret_n, struct scribe_err *err)
{
	struct one_module *o = from;
	const void *p;
	int rc;

	*ret_n = 0;
	/* Opaque records of length 0 are skipped, because 0 bytes would mean the end. */
	if (!o->f)
		return 0;
	while (o->f->left == 0) {
		rc = begin_record(o, to, ret_n, err);
		if (rc <= 0 || *ret_n)
			return rc < 0 ? rc : 0;
	}
	rc = some(o->f, capacity, &p, ret_n, err);
	if (rc == 0)
		memcpy(to, p, *ret_n);
	return rc;
}

static uint64_t left_of_record(const void *from)
{
	const struct one_module *o = from;

	return o->f ? o->f->left : 0;
}

static const struct scribe_region_stream *below(const void *from)
{
	const struct one_module *o = from;

	return o->f ? o->f->plain : NULL;
}

static void free_module(void *from)
{
	struct one_module *o = from;

	scribe_framed_free(o->f);
	free(o);
}

static const struct scribe_region_supply one_module_supply = {
	.read = read_records, .left = left_of_record, .below = below, .free = free_module};

struct scribe_region_stream *scribe_framed_stream(struct scribe_framed *f, const char *label, const char *region,
						  const struct scribe_framed_want *want)
{
	struct one_module *o = f ? calloc(1, sizeof(*o)) : NULL;
	struct scribe_region_stream *s;

	if (!o) {
		scribe_framed_free(f);
		return NULL;
	}
	o->f = f;
	o->want = *want;
	s = scribe_region_stream_from(&one_module_supply, o, label, region);
	if (s)
		o->stream = s;
	return s;
}

struct scribe_framed *scribe_framed_take(struct scribe_region_stream *s)
{
	struct one_module *o = scribe_region_stream_supplier(s, &one_module_supply);
	struct scribe_framed *f = o ? o->f : NULL;

	if (o)
		o->f = NULL;
	return f;
}
