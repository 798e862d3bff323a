/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of variable length from a stream: LUSTRE, DXT, MDHIM, HEATMAP, APMPI in all released versions. A
 * record is valid until the next call. Must not know files.
 */
#include "logfmt/file/variable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/layout.h"
#include "logfmt/file/log_types.h"
#include "logfmt/file/variable_bytes.h"

#define DXT_PIECE       1024 /* segments of 40 bytes */
#define LUSTRE_V1_WORDS 7

/* NULL: out of memory. */
static void *scratch_capacity(struct scribe_variable_scratch *s, size_t n)
{
	void *bytes;

	if (n <= s->capacity)
		return s->bytes;
	bytes = realloc(s->bytes, n);
	if (!bytes)
		return NULL;
	s->bytes = bytes;
	s->capacity = n;
	return bytes;
}

/* Copies the next record's head in native order. 1, 0: end, < 0. */
static int take_head(struct scribe_variable *v, struct scribe_region_stream *s, void *head, size_t n, size_t words,
		     struct scribe_err *err)
{
	const void *p;
	size_t avail;
	int rc = scribe_region_stream_need(s, n, &p, &avail, err);

	if (rc)
		return rc;
	if (avail == 0)
		return 0;
	if (avail < n)
		return scribe_region_stream_error(s, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a record (%zu bytes left)", avail);
	memcpy(head, p, n);
	if (v->swapped)
		scribe_swap_words(head, words);
	return 1;
}

static int out_of_range(struct scribe_region_stream *s, struct scribe_err *err, const char *what, int64_t a, int64_t b)
{
	return scribe_region_stream_error(s, err, -SCRIBE_E_LIMIT, "%s out of range (%lld, %lld)", what, (long long)a,
					  (long long)b);
}

/* The window stays until the next need(). */
static int take_all(struct scribe_region_stream *s, size_t n, char **ret_p, struct scribe_err *err)
{
	const void *p;
	size_t avail;
	int rc = scribe_region_stream_need(s, n, &p, &avail, err);

	if (rc)
		return rc;
	if (avail < n)
		return scribe_region_stream_error(s, err, -SCRIBE_E_TRUNCATED,
						  "ends in the middle of a record (%zu of %zu bytes)", avail, n);
	scribe_region_stream_skip(s, n);
	*ret_p = (char *)p;
	return 1;
}

static int no_memory(struct scribe_region_stream *s, struct scribe_err *err)
{
	return scribe_region_stream_error(s, err, -ENOMEM, "out of memory for a record");
}

/* Version 1, seven words and OST ids, becomes a record of one component. */
static int lustre_v1(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec, size_t *ret_len,
		     struct scribe_err *err)
{
	int64_t head[LUSTRE_V1_WORDS];
	struct scribe_lustre_record *rec;
	size_t disk, len;
	char *p = NULL;
	int rc = take_head(v, s, head, sizeof(head), LUSTRE_V1_WORDS, err);

	if (rc <= 0)
		return rc;
	disk = scribe_sized(sizeof(head), head[6], 8);
	if (disk == 0)
		return out_of_range(s, err, "stripe count", head[6], 0);
	rc = take_all(s, disk, &p, err);
	if (rc < 0)
		return rc;
	len = sizeof(*rec) + sizeof(struct scribe_lustre_comp) + (size_t)head[6] * 8;
	rec = scratch_capacity(&v->scratch, len);
	if (!rec)
		return no_memory(s, err);
	memset(rec, 0, sizeof(*rec) + sizeof(rec->comps[0]));
	memcpy(&rec->base, head, sizeof(rec->base));
	rec->num_comps = 1;
	rec->num_stripes = head[6];
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] = head[5];
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = head[6];
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_STRIPE_PATTERN] = -1;
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_FLAGS] = -1;
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_EXT_END] = -1;
	rec->comps[0].counters[SCRIBE_LUSTRE_COMP_MIRROR_ID] = -1;
	memcpy(&rec->comps[1], p + sizeof(head), (size_t)head[6] * 8);
	if (v->swapped)
		scribe_swap_words(&rec->comps[1], (size_t)head[6]);
	*ret_rec = rec;
	*ret_len = len;
	return 1;
}

/* Removes unused components (stripe size -1) at the end and their stripes. */
static size_t lustre_trim(struct scribe_lustre_record *rec)
{
	int64_t comps = rec->num_comps;
	int64_t *osts = (int64_t *)&rec->comps[comps];
	int64_t kept = 0, stripes = 0;

	for (; kept < comps; kept++) {
		int64_t n = rec->comps[kept].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];

		if (rec->comps[kept].counters[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] == -1)
			break;
		if (n < 0 || n > rec->num_stripes - stripes)
			return sizeof(*rec) + (size_t)comps * sizeof(rec->comps[0]) +
			       (size_t)rec->num_stripes * 8; /* inconsistent: unchanged */
		stripes += n;
	}
	memmove(&rec->comps[kept], osts, (size_t)stripes * 8);
	rec->num_comps = kept;
	rec->num_stripes = stripes;
	return sizeof(*rec) + (size_t)kept * sizeof(rec->comps[0]) + (size_t)stripes * 8;
}

static int lustre_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec, size_t *ret_len,
		       struct scribe_err *err)
{
	struct scribe_lustre_record head, *rec;
	size_t n;
	char *p = NULL;
	int rc = take_head(v, s, &head, sizeof(head), sizeof(head) / 8, err);

	if (rc <= 0)
		return rc;
	n = scribe_sized(sizeof(head), head.num_comps, sizeof(struct scribe_lustre_comp));
	n = n ? scribe_sized(n, head.num_stripes, 8) : 0;
	if (n == 0)
		return out_of_range(s, err, "components or stripes", head.num_comps, head.num_stripes);
	rc = take_all(s, n, &p, err);
	if (rc < 0)
		return rc;
	rec = (struct scribe_lustre_record *)p;
	memcpy(rec, &head, sizeof(head));
	if (v->swapped) {
		for (int64_t i = 0; i < rec->num_comps; i++)
			scribe_swap_words(rec->comps[i].counters, SCRIBE_LUSTRE_COMP_COUNT);
		scribe_swap_words(&rec->comps[rec->num_comps], (size_t)rec->num_stripes);
	}
	*ret_rec = rec;
	*ret_len = lustre_trim(rec);
	return 1;
}

/* In the file. */
static size_t dxt_each(const struct scribe_variable *v)
{
	/* Thread ids came with DXT_POSIX 2 and DXT_MPIIO 3. */
	unsigned without_threads = v->module == SCRIBE_MOD_DXT_MPIIO ? 2 : 1;

	return v->version > without_threads ? sizeof(struct scribe_dxt_segment) : SCRIBE_DXT_DISK_SEGMENT;
}

/* Does not skip the head. */
static int dxt_head(struct scribe_variable *v, struct scribe_region_stream *s, struct scribe_dxt_head *head,
		    size_t *ret_len, struct scribe_err *err)
{
	int rc = take_head(v, s, head, sizeof(*head), 3, err);

	_Static_assert(sizeof(*head) == sizeof(struct scribe_dxt_record), "what a record begins with");
	if (rc <= 0)
		return rc;
	if (v->swapped)
		scribe_swap_words(&head->write_count, 2);
	*ret_len = scribe_sized(sizeof(*head), head->write_count, sizeof(struct scribe_dxt_segment));
	*ret_len = *ret_len ? scribe_sized(*ret_len, head->read_count, sizeof(struct scribe_dxt_segment)) : 0;
	if (*ret_len == 0)
		return out_of_range(s, err, "segment counts", head->write_count, head->read_count);
	return 1;
}

/* Converts segments, if needed in place. */
static void dxt_bring(const struct scribe_variable *v, const char *from, struct scribe_dxt_segment *to, size_t n)
{
	size_t each = dxt_each(v);

	for (size_t i = 0; each != sizeof(*to) && i < n; i++) {
		memcpy(&to[i], from + i * each, each);
		to[i].thread = 0;
	}
	if (v->swapped)
		scribe_swap_words(to, n * sizeof(*to) / 8);
	for (size_t i = 0; v->module == SCRIBE_MOD_DXT_MPIIO && v->version == 1 && i < n; i++)
		to[i].offset = -1; /* not in that version */
}

static int dxt_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec, size_t *ret_len,
		    struct scribe_err *err)
{
	struct scribe_dxt_record *rec;
	struct scribe_dxt_head head;
	size_t count, n;
	char *p = NULL;
	int rc = dxt_head(v, s, &head, &n, err);

	if (rc <= 0)
		return rc;
	count = (size_t)(head.write_count + head.read_count);
	rc = take_all(s, sizeof(head) + count * dxt_each(v), &p, err);
	if (rc < 0)
		return rc;
	rec = (struct scribe_dxt_record *)p;
	if (dxt_each(v) != sizeof(struct scribe_dxt_segment)) {
		rec = scratch_capacity(&v->scratch, n);
		if (!rec)
			return no_memory(s, err);
	}
	dxt_bring(v, p + sizeof(head), rec->segments, count);
	memcpy(rec, &head, sizeof(head));
	*ret_rec = rec;
	*ret_len = n;
	return 1;
}

static int dxt_next_piece(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec,
			  size_t *ret_len, struct scribe_err *err)
{
	struct scribe_dxt_piece *piece = &v->piece;
	struct scribe_dxt_segment *to;
	size_t n;
	char *p = NULL;
	int rc;

	piece->first += piece->n;
	if (v->left == 0) {
		rc = dxt_head(v, s, &piece->head, &n, err);
		if (rc <= 0)
			return rc;
		piece->first = 0;
		v->left = piece->head.write_count + piece->head.read_count;
		rc = take_all(s, sizeof(piece->head), &p, err);
		if (rc < 0)
			return rc;
	}
	n = v->left < DXT_PIECE ? (size_t)v->left : DXT_PIECE;
	rc = take_all(s, n * dxt_each(v), &p, err);
	if (rc < 0)
		return rc;
	to = (struct scribe_dxt_segment *)p;
	if (dxt_each(v) != sizeof(*to))
		to = scratch_capacity(&v->scratch, DXT_PIECE * sizeof(*to));
	if (!to)
		return no_memory(s, err);
	dxt_bring(v, p, to, n);
	piece->n = (int64_t)n;
	piece->segments = to;
	v->left -= piece->n;
	*ret_rec = piece;
	*ret_len = sizeof(*piece);
	return 1;
}

static int mdhim_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec, size_t *ret_len,
		      struct scribe_err *err)
{
	struct scribe_mdhim_record head;
	size_t n;
	char *p = NULL;
	int rc = take_head(v, s, &head, sizeof(head), sizeof(head) / 8, err);

	if (rc <= 0)
		return rc;
	n = scribe_mdhim_bytes(head.counters[SCRIBE_MDHIM_SERVERS]);
	if (n == 0)
		return out_of_range(s, err, "servers", head.counters[SCRIBE_MDHIM_SERVERS], 0);
	rc = take_all(s, n, &p, err);
	if (rc < 0)
		return rc;
	if (v->swapped)
		scribe_swap_words(p, n / 8);
	*ret_rec = p;
	*ret_len = n;
	return 1;
}

/* NULL: out of memory. */
static struct scribe_heatmap_record *heatmap_fit(struct scribe_variable *v, struct scribe_heatmap_record *rec)
{
	size_t had = (size_t)rec->nbins, want;

	/*
	 * Runtimes 3.4.0 to 3.4.3 could differ by one bin between ranks. As in Darshan's reader, records of the first
	 * one's bin width are cut or extended to its number of bins.
	 */
	if (v->first.nbins == 0)
		v->first.nbins = rec->nbins;
	if (v->first.width == 0)
		v->first.width = rec->bin_width_seconds;
	want = (size_t)v->first.nbins;
	if (rec->bin_width_seconds != v->first.width || had == want)
		return rec;
	if (had == want + 1) {
		memmove(rec->bins + want, rec->bins + had, want * 8);
		rec->nbins--;
	} else if (had + 1 == want) {
		struct scribe_heatmap_record *wider = scratch_capacity(&v->scratch, sizeof(*rec) + 2 * want * 8);

		if (!wider)
			return NULL;
		memcpy(wider, rec, sizeof(*rec) + had * 8);
		wider->bins[had] = 0;
		memcpy(wider->bins + want, rec->bins + had, had * 8);
		wider->bins[want + had] = 0;
		wider->nbins++;
		rec = wider;
	}
	return rec;
}

static int heatmap_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec,
			size_t *ret_len, struct scribe_err *err)
{
	struct scribe_heatmap_record head, *rec;
	size_t n;
	char *p = NULL;
	int rc = take_head(v, s, &head, sizeof(head), sizeof(head) / 8, err);

	if (rc <= 0)
		return rc;
	n = scribe_sized(sizeof(head), head.nbins, 16);
	if (n == 0)
		return out_of_range(s, err, "bins", head.nbins, 0);
	rc = take_all(s, n, &p, err);
	if (rc < 0)
		return rc;
	rec = (struct scribe_heatmap_record *)p;
	head.unused[0] = head.unused[1] = 0;
	memcpy(rec, &head, sizeof(head));
	if (v->swapped)
		scribe_swap_words(rec->bins, (size_t)rec->nbins * 2);
	rec = heatmap_fit(v, rec);
	if (!rec)
		return no_memory(s, err);
	*ret_rec = rec;
	*ret_len = sizeof(*rec) + (size_t)rec->nbins * 16;
	return 1;
}

static int apmpi_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec, size_t *ret_len,
		      struct scribe_err *err)
{
	struct scribe_apmpi_header_record head;
	size_t n = sizeof(struct scribe_apmpi_record);
	char *p = NULL;
	int rc = take_head(v, s, &head, sizeof(head), 3, err);

	if (rc <= 0)
		return rc;
	/* The module's first record is a header of another length. */
	if (head.magic == SCRIBE_APMPI_MAGIC)
		n = sizeof(head);
	rc = take_all(s, n, &p, err);
	if (rc < 0)
		return rc;
	if (v->swapped && n == sizeof(head)) {
		head.sync_flag = __builtin_bswap32(head.sync_flag);
		scribe_swap_words(&head.variance_total_mpitime, 2);
		memcpy(p, &head, sizeof(head));
	} else if (v->swapped) {
		scribe_swap_words(p, offsetof(struct scribe_apmpi_record, node_name) / 8);
	}
	*ret_rec = p;
	*ret_len = n;
	return 1;
}

int scribe_variable_next(struct scribe_variable *v, struct scribe_region_stream *s, const void **ret_rec,
			 size_t *ret_len, struct scribe_err *err)
{
	switch (v->module) {
	case SCRIBE_MOD_LUSTRE:
		return v->version == 1 ? lustre_v1(v, s, ret_rec, ret_len, err)
				       : lustre_next(v, s, ret_rec, ret_len, err);
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
		return v->in_pieces ? dxt_next_piece(v, s, ret_rec, ret_len, err)
				    : dxt_next(v, s, ret_rec, ret_len, err);
	case SCRIBE_MOD_MDHIM:
		return mdhim_next(v, s, ret_rec, ret_len, err);
	case SCRIBE_MOD_HEATMAP:
		return heatmap_next(v, s, ret_rec, ret_len, err);
	case SCRIBE_MOD_APMPI:
		return apmpi_next(v, s, ret_rec, ret_len, err);
	default:
		return scribe_region_stream_error(s, err, -SCRIBE_E_UNSUPPORTED, "records of an unknown layout");
	}
}
