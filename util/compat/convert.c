/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of records to Darshan's layout and back. They differ by pointers (LUSTRE, HEATMAP) and DXT segments. The
 * program frees buffers.
 */
#include <stdlib.h>
#include <string.h>

#include "util/compat/state.h"

#define SEGMENT sizeof(struct segment_info)

/* Other records are passed as bytes. */
_Static_assert(sizeof(struct darshan_posix_file) == sizeof(struct scribe_posix_record), "posix");
_Static_assert(sizeof(struct darshan_daos_object) == sizeof(struct scribe_daos_record), "daos");
_Static_assert(sizeof(struct darshan_apmpi_perf_record) == sizeof(struct scribe_apmpi_record), "apmpi");
_Static_assert(sizeof(struct darshan_lustre_component) == sizeof(struct scribe_lustre_comp), "lustre");
_Static_assert(sizeof(struct dxt_file_record) == sizeof(struct scribe_dxt_record), "dxt");
_Static_assert(sizeof(struct darshan_heatmap_record) == sizeof(struct scribe_heatmap_record), "heatmap");

size_t compat_sizeof(int module, const void *buf)
{
	const struct darshan_lustre_record *l = buf;
	const struct dxt_file_record *d = buf;

	switch (module) {
	case DARSHAN_LUSTRE_MOD:
		return sizeof(*l) + (size_t)l->num_comps * sizeof(*l->comps) + (size_t)l->num_stripes * 8;
	case DXT_POSIX_MOD:
	case DXT_MPIIO_MOD:
		return sizeof(*d) + (size_t)(d->write_count + d->read_count) * SEGMENT;
	default:
		return scribe_record_length(module, buf, SIZE_MAX);
	}
}

static size_t wanted(int module, const void *rec, size_t len)
{
	const struct scribe_dxt_record *d = rec;

	if (module == DARSHAN_LUSTRE_MOD)
		return len + 2 * sizeof(void *);
	if (module == DXT_POSIX_MOD || module == DXT_MPIIO_MOD)
		return sizeof(*d) + (size_t)(d->write_count + d->read_count) * SEGMENT;
	return len;
}

static void fill(int module, const void *rec, size_t len, void *out)
{
	const struct scribe_lustre_record *lustre = rec;
	const struct scribe_dxt_record *dxt = rec;
	struct darshan_lustre_record *l = out;
	struct darshan_heatmap_record *h = out;

	switch (module) {
	case DARSHAN_LUSTRE_MOD:
		memcpy(l, rec, sizeof(*lustre));
		/* Pointers refer to the record's own buffer, so that one free() releases all. */
		l->comps = (struct darshan_lustre_component *)(l + 1);
		l->ost_ids = (OST_ID *)(l->comps + l->num_comps);
		memcpy(l + 1, lustre->comps, len - sizeof(*lustre));
		return;
	case DXT_POSIX_MOD:
	case DXT_MPIIO_MOD:
		memcpy(out, dxt, sizeof(*dxt));
		for (int64_t i = 0; i < dxt->write_count + dxt->read_count; i++)
			memcpy((char *)out + sizeof(*dxt) + (size_t)i * SEGMENT, &dxt->segments[i], SEGMENT);
		return;
	case DARSHAN_HEATMAP_MOD:
		memcpy(out, rec, len);
		h->write_bins = (int64_t *)(h + 1);
		h->read_bins = h->write_bins + h->nbins;
		return;
	default:
		memcpy(out, rec, len);
	}
}

int compat_from_record(int module, const void *rec, size_t len, void **buf)
{
	size_t n = wanted(module, rec, len);
	void *out = *buf;

	/* Darshan's convention: a caller's buffer has DEF_MOD_BUF_SIZE bytes. */
	if (out && n > DEF_MOD_BUF_SIZE)
		return compat_error("%s record is %zu bytes, but DEF_MOD_BUF_SIZE is only %d bytes",
				    darshan_module_names[module], n, DEF_MOD_BUF_SIZE);
	if (!out)
		out = malloc(n);
	if (!out)
		return compat_error("out of memory.");
	fill(module, rec, len, out);
	*buf = out;
	return 1;
}

static void *lustre_back(const struct darshan_lustre_record *l, size_t *ret_len)
{
	struct scribe_lustre_record *rec;
	size_t comps = (size_t)l->num_comps * sizeof(rec->comps[0]), osts = (size_t)l->num_stripes * 8;

	*ret_len = sizeof(*rec) + comps + osts;
	rec = malloc(*ret_len);
	if (!rec)
		return NULL;
	memcpy(rec, l, sizeof(*rec));
	memcpy(rec->comps, l->comps, comps);
	memcpy((char *)rec->comps + comps, l->ost_ids, osts);
	return rec;
}

static void *heatmap_back(const struct darshan_heatmap_record *h, size_t *ret_len)
{
	struct scribe_heatmap_record *rec;
	size_t bins = (size_t)h->nbins * 8;

	*ret_len = sizeof(*rec) + 2 * bins;
	rec = malloc(*ret_len);
	if (!rec)
		return NULL;
	memcpy(rec, h, sizeof(*rec));
	rec->unused[0] = rec->unused[1] = 0;
	memcpy(rec->bins, h->write_bins, bins);
	memcpy((char *)rec->bins + bins, h->read_bins, bins);
	return rec;
}

static void *dxt_back(const struct dxt_file_record *d, size_t *ret_len)
{
	size_t n = (size_t)(d->write_count + d->read_count);
	struct scribe_dxt_record *rec;

	*ret_len = sizeof(*rec) + n * sizeof(rec->segments[0]);
	rec = calloc(1, *ret_len);
	if (!rec)
		return NULL;
	memcpy(rec, d, sizeof(*rec));
	for (size_t i = 0; i < n; i++)
		memcpy(&rec->segments[i], (const char *)(d + 1) + i * SEGMENT, SEGMENT);
	return rec;
}

/* False: counts that would overflow the allocation. */
static bool in_range(int64_t a, int64_t b)
{
	return a >= 0 && b >= 0 && a < SCRIBE_MAX_RECORD_BYTES && b < SCRIBE_MAX_RECORD_BYTES;
}

void *compat_to_record(int module, const void *buf, size_t *ret_len)
{
	const struct darshan_lustre_record *l = buf;
	const struct darshan_heatmap_record *h = buf;
	const struct dxt_file_record *d = buf;
	void *out;

	switch (module) {
	case DARSHAN_LUSTRE_MOD:
		return in_range(l->num_comps, l->num_stripes) ? lustre_back(l, ret_len) : NULL;
	case DARSHAN_HEATMAP_MOD:
		return in_range(h->nbins, 0) ? heatmap_back(h, ret_len) : NULL;
	case DXT_POSIX_MOD:
	case DXT_MPIIO_MOD:
		return in_range(d->write_count, d->read_count) ? dxt_back(d, ret_len) : NULL;
	default:
		*ret_len = scribe_record_length(module, buf, SIZE_MAX);
		out = *ret_len ? malloc(*ret_len) : NULL;
		if (out)
			memcpy(out, buf, *ret_len);
		return out;
	}
}
