/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths of variable records and their form in the file. Also in the runtime of MPI programs: must not know
 * streams or decompressors.
 */
#include "logfmt/file/variable_bytes.h"

#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/log_types.h"

size_t scribe_sized(size_t base, int64_t count, size_t each)
{
	if (count < 0 || (uint64_t)count > (SCRIBE_MAX_RECORD_BYTES - base) / each)
		return 0;
	return base + (size_t)count * each;
}

size_t scribe_mdhim_bytes(int64_t servers)
{
	return scribe_sized(sizeof(struct scribe_mdhim_record), servers > 1 ? servers : 1, 8);
}

/* 0: more bytes needed, or a count out of range. */
static size_t variable_length(int module, const void *rec, size_t avail)
{
	const struct scribe_lustre_record *lustre = rec;
	const struct scribe_dxt_record *dxt = rec;
	const struct scribe_mdhim_record *mdhim = rec;
	const struct scribe_heatmap_record *heatmap = rec;
	const struct scribe_apmpi_header_record *apmpi = rec;
	size_t n;

	switch (module) {
	case SCRIBE_MOD_LUSTRE:
		if (avail < sizeof(*lustre))
			return 0;
		n = scribe_sized(sizeof(*lustre), lustre->num_comps, sizeof(struct scribe_lustre_comp));
		return n ? scribe_sized(n, lustre->num_stripes, 8) : 0;
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
		if (avail < sizeof(*dxt))
			return 0;
		n = scribe_sized(sizeof(*dxt), dxt->write_count, sizeof(struct scribe_dxt_segment));
		return n ? scribe_sized(n, dxt->read_count, sizeof(struct scribe_dxt_segment)) : 0;
	case SCRIBE_MOD_MDHIM:
		return avail < sizeof(*mdhim) ? 0 : scribe_mdhim_bytes(mdhim->counters[SCRIBE_MDHIM_SERVERS]);
	case SCRIBE_MOD_HEATMAP:
		return avail < sizeof(*heatmap) ? 0 : scribe_sized(sizeof(*heatmap), heatmap->nbins, 16);
	case SCRIBE_MOD_APMPI:
		if (avail < sizeof(*apmpi))
			return 0;
		return apmpi->magic == SCRIBE_APMPI_MAGIC ? sizeof(*apmpi) : sizeof(struct scribe_apmpi_record);
	default:
		return 0;
	}
}

size_t scribe_record_length(int module, const void *rec, size_t avail)
{
	const struct scribe_module *m = scribe_module_by_id(module);

	if (!m)
		return 0;
	return m->record_bytes ? m->record_bytes : variable_length(module, rec, avail);
}

size_t scribe_variable_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap)
{
	const struct scribe_dxt_record *dxt = rec;
	size_t count, n;

	/* Only DXT differs: segments lose their thread ids. */
	if ((module != SCRIBE_MOD_DXT_POSIX && module != SCRIBE_MOD_DXT_MPIIO) || dxt_threads) {
		if (cap >= len)
			memcpy(out, rec, len);
		return len;
	}
	count = (len - sizeof(*dxt)) / sizeof(dxt->segments[0]);
	n = sizeof(*dxt) + count * SCRIBE_DXT_DISK_SEGMENT;
	if (cap < n)
		return n;
	memcpy(out, dxt, sizeof(*dxt));
	for (size_t i = 0; i < count; i++)
		memcpy((char *)out + sizeof(*dxt) + i * SCRIBE_DXT_DISK_SEGMENT, &dxt->segments[i],
		       SCRIBE_DXT_DISK_SEGMENT);
	return n;
}
