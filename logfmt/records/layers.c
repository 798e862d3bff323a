/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LAYERS records: bytes at the levels of HDF5 and PnetCDF, MPI-IO and system calls, and ratios, which are
 * computed again after each join. Must not know files.
 */
#include "logfmt/records/layers.h"
#include "logfmt/records/quantum.h"

#include "logfmt/records/sum.h"
#include "logfmt/rules/lib_rules.h"

/* Indices of a level's counters; lower_bytes, time: of system calls inside its calls; -1: none. */
struct level {
	int module, bytes, lower_bytes, time;
	unsigned field;
};

static const struct level levels[] = {
	{SCRIBE_MOD_POSIX, SCRIBE_LAYERS_POSIX_BYTES_READ, -1, -1, 0},
	/* STDIO's bytes are counted at the level of POSIX. */
	{SCRIBE_MOD_STDIO, SCRIBE_LAYERS_POSIX_BYTES_READ, -1, -1, 0},
	{SCRIBE_MOD_MPIIO, SCRIBE_LAYERS_MPIIO_BYTES_READ, SCRIBE_LAYERS_MPIIO_BENEATH_READ,
	 SCRIBE_LAYERS_F_MPIIO_BENEATH_TIME, SCRIBE_LIB_MPIIO_BELOW},
	{SCRIBE_MOD_H5F, -1, SCRIBE_LAYERS_HDF5_BENEATH_READ, SCRIBE_LAYERS_F_HDF5_BENEATH_TIME, SCRIBE_LIB_H5F_BELOW},
	{SCRIBE_MOD_H5D, SCRIBE_LAYERS_HDF5_BYTES_READ, SCRIBE_LAYERS_HDF5_BENEATH_READ,
	 SCRIBE_LAYERS_F_HDF5_BENEATH_TIME, SCRIBE_LIB_H5D_BELOW},
	{SCRIBE_MOD_PNETCDF_FILE, -1, SCRIBE_LAYERS_PNETCDF_BENEATH_READ, SCRIBE_LAYERS_F_PNETCDF_BENEATH_TIME,
	 SCRIBE_LIB_NC_BELOW},
	{SCRIBE_MOD_PNETCDF_VAR, SCRIBE_LAYERS_PNETCDF_BYTES_READ, -1, -1, 0},
};

void scribe_layers_add(struct scribe_layers_record *r, int module, const struct scribe_posix_acc *acc)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		const struct level *l = &levels[i];

		if (l->module != module)
			continue;
		for (int w = 0; w < 2; w++) {
			if (l->bytes >= 0)
				r->counters[l->bytes + w] += (int64_t)acc->sum.bytes[w];
			if (l->lower_bytes >= 0)
				r->counters[l->lower_bytes + w] += (int64_t)acc->ext.v[l->field + (unsigned)w];
		}
		if (l->time >= 0)
			r->fcounters[l->time] += scribe_quantum_seconds(acc->ext.v[l->field + 2]);
	}
}

/* -1: nothing to compare with. */
static double ratio(int64_t lower, int64_t upper)
{
	return upper > 0 ? (double)lower / (double)upper : -1;
}

void scribe_layers_ratios(const int64_t *c, double *f)
{
	for (int w = 0; w < 2; w++) {
		int64_t mpiio = c[SCRIBE_LAYERS_MPIIO_BYTES_READ + w], posix = c[SCRIBE_LAYERS_POSIX_BYTES_READ + w],
			formats = scribe_sum(c[SCRIBE_LAYERS_HDF5_BYTES_READ + w],
					     c[SCRIBE_LAYERS_PNETCDF_BYTES_READ + w]);

		/* The top level is the file format, or MPI-IO if there is none. */
		f[SCRIBE_LAYERS_F_READ_POSIX_PER_TOP + w] = ratio(posix, formats > 0 ? formats : mpiio);
		f[SCRIBE_LAYERS_F_READ_MPIIO_PER_TOP + w] = ratio(mpiio, formats);
		f[SCRIBE_LAYERS_F_READ_POSIX_PER_MPIIO + w] = ratio(posix, mpiio);
	}
}

void scribe_layers_join(void *rec, const void *other)
{
	struct scribe_layers_record *r = rec;
	const struct scribe_layers_record *o = other;
	int64_t sums[SCRIBE_LAYERS_COUNT];

	/* Called before the counters are added, and ratios need the sums, so it adds them itself. */
	for (int i = 0; i < SCRIBE_LAYERS_COUNT; i++)
		sums[i] = scribe_sum(r->counters[i], o->counters[i]);
	scribe_layers_ratios(sums, r->fcounters);
}
