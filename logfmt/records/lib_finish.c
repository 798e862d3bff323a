/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of STDIO, MPI-IO, HDF5, PnetCDF and cuFile from counts of the kernel programs (lib_rules.h). Must not know
 * processes or files.
 */
#include "logfmt/records/lib_finish.h"

#include <string.h>

#include "logfmt/records/join.h"
#include "logfmt/records/quantum.h"
#include "logfmt/rules/lib_rules.h"

static void put_top(int64_t *values, int64_t *counts, const struct scribe_value_map *map)
{
	struct scribe_value top[SCRIBE_TOP_VALUES];

	scribe_value_map_top(map, top, SCRIBE_TOP_VALUES);
	for (int i = 0; i < SCRIBE_TOP_VALUES; i++) {
		values[i] = top[i].value;
		counts[i] = (int64_t)top[i].count;
	}
}

struct patterns {
	scribe_access_pattern_fn fn;
	void *ctx;
};

static void put_patterns(int module, int64_t *counters, const struct scribe_value_map *map,
			 const struct patterns *patterns)
{
	const struct scribe_value_group *group = &scribe_join_plan(module)->values[0];
	struct scribe_common table[4 * SCRIBE_TABLE_VALUES];
	struct scribe_value v;
	/* The map counts by a pattern's key. Different keys can have one pattern, so the table is larger than four. */
	int used = 0;

	for (uint32_t i = 0; scribe_value_map_at(map, i, &v); i++) {
		struct scribe_access_pattern s;

		if (!v.count)
			continue;
		if (!patterns->fn || !patterns->fn(patterns->ctx, v.value, &s))
			memset(&s, 0xff, sizeof(s));
		scribe_common_add(table, &used, 4 * SCRIBE_TABLE_VALUES, (const int64_t *)&s, SCRIBE_VALUE_WIDTH,
				  (int64_t)v.count);
	}
	scribe_common_sort(table, used, SCRIBE_VALUE_WIDTH);
	scribe_common_give(group, table, used, counters);
}

static size_t make_stdio(const struct scribe_posix_acc *acc, uint64_t base, struct scribe_stdio_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;
	int64_t *c = r->counters;
	double *f = r->fcounters;

	c[SCRIBE_STDIO_OPENS] = (int64_t)s->opens;
	c[SCRIBE_STDIO_FDOPENS] = (int64_t)s->dups;
	c[SCRIBE_STDIO_READS] = (int64_t)s->ops[SCRIBE_OP_READ];
	c[SCRIBE_STDIO_WRITES] = (int64_t)s->ops[SCRIBE_OP_WRITE];
	c[SCRIBE_STDIO_SEEKS] = (int64_t)s->seeks;
	c[SCRIBE_STDIO_FLUSHES] = (int64_t)s->fsyncs;
	c[SCRIBE_STDIO_BYTES_READ] = (int64_t)s->bytes[SCRIBE_OP_READ];
	c[SCRIBE_STDIO_BYTES_WRITTEN] = (int64_t)s->bytes[SCRIBE_OP_WRITE];
	c[SCRIBE_STDIO_MAX_BYTE_READ] = (int64_t)s->max_byte[SCRIBE_OP_READ];
	c[SCRIBE_STDIO_MAX_BYTE_WRITTEN] = (int64_t)s->max_byte[SCRIBE_OP_WRITE];
	f[SCRIBE_STDIO_F_META_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_META]);
	f[SCRIBE_STDIO_F_WRITE_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_WRITE]);
	f[SCRIBE_STDIO_F_READ_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_READ]);
	f[SCRIBE_STDIO_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_STDIO_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	f[SCRIBE_STDIO_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	f[SCRIBE_STDIO_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	f[SCRIBE_STDIO_F_READ_START_TIMESTAMP] = scribe_quantum_when(s->start[SCRIBE_OP_READ], base);
	f[SCRIBE_STDIO_F_READ_END_TIMESTAMP] = scribe_quantum_when(s->end[SCRIBE_OP_READ], base);
	f[SCRIBE_STDIO_F_WRITE_START_TIMESTAMP] = scribe_quantum_when(s->start[SCRIBE_OP_WRITE], base);
	f[SCRIBE_STDIO_F_WRITE_END_TIMESTAMP] = scribe_quantum_when(s->end[SCRIBE_OP_WRITE], base);
	return sizeof(*r);
}

static size_t make_mpiio(const struct scribe_posix_acc *acc, uint64_t base, int64_t mode, struct scribe_mpiio_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;
	int64_t *c = r->counters;
	double *f = r->fcounters;

	/* The ext shard begins with these counters in the record's order. */
	for (int i = SCRIBE_MPIIO_INDEP_OPENS; i <= SCRIBE_MPIIO_VIEWS; i++)
		c[i] = (int64_t)acc->ext.v[i];
	c[SCRIBE_MPIIO_MODE] = mode;
	c[SCRIBE_MPIIO_RW_SWITCHES] = (int64_t)s->rw_switches;
	for (int w = 0; w < 2; w++) {
		c[SCRIBE_MPIIO_BYTES_READ + w] = (int64_t)s->bytes[w];
		c[SCRIBE_MPIIO_MAX_READ_TIME_SIZE + w] = (int64_t)s->max_ns_size[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			c[SCRIBE_MPIIO_SIZE_READ_AGG_0_100 + w * SCRIBE_SIZE_BUCKETS + i] = (int64_t)s->size[w][i];
		f[SCRIBE_MPIIO_F_READ_START_TIMESTAMP + w] = scribe_quantum_when(s->start[w], base);
		f[SCRIBE_MPIIO_F_READ_END_TIMESTAMP + w] = scribe_quantum_when(s->end[w], base);
		f[SCRIBE_MPIIO_F_MAX_READ_TIME + w] = scribe_quantum_seconds(s->max_ns[w]);
	}
	for (int i = 0; i < 3; i++)
		f[SCRIBE_MPIIO_F_READ_TIME + i] = scribe_quantum_seconds(s->busy_ns[i]);
	f[SCRIBE_MPIIO_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_MPIIO_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	f[SCRIBE_MPIIO_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	f[SCRIBE_MPIIO_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	put_top(&c[SCRIBE_MPIIO_ACCESS1_ACCESS], &c[SCRIBE_MPIIO_ACCESS1_COUNT], &acc->access);
	return sizeof(*r);
}

/* 1, 0, or -1: not visible. */
static int64_t flag(uint64_t v)
{
	/*
	 * Ranks and calls have been added: the low 32 bits count "yes", SCRIBE_LIB_FLAG_UNKNOWN counts "not
	 * visible".
	 */
	return v % SCRIBE_LIB_FLAG_UNKNOWN ? 1 : v ? -1 : 0;
}

static size_t make_h5f(const struct scribe_posix_acc *acc, uint64_t base, struct scribe_h5f_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;

	r->counters[SCRIBE_H5F_OPENS] = (int64_t)acc->ext.v[SCRIBE_H5F_OPENS];
	r->counters[SCRIBE_H5F_FLUSHES] = (int64_t)acc->ext.v[SCRIBE_H5F_FLUSHES];
	r->counters[SCRIBE_H5F_USE_MPIIO] = flag(acc->ext.v[SCRIBE_H5F_USE_MPIIO]);
	r->fcounters[SCRIBE_H5F_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	r->fcounters[SCRIBE_H5F_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	r->fcounters[SCRIBE_H5F_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	r->fcounters[SCRIBE_H5F_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	r->fcounters[SCRIBE_H5F_F_META_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_META]);
	return sizeof(*r);
}

static size_t make_h5d(const struct scribe_posix_acc *acc, uint64_t base, const struct patterns *patterns,
		       struct scribe_h5d_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;
	int64_t *c = r->counters;
	double *f = r->fcounters;

	for (int i = SCRIBE_H5D_OPENS; i <= SCRIBE_H5D_FLUSHES; i++)
		c[i] = (int64_t)acc->ext.v[i];
	for (int i = SCRIBE_H5D_REGULAR_HYPERSLAB_SELECTS; i <= SCRIBE_H5D_POINT_SELECTS; i++)
		c[i] = (int64_t)acc->ext.v[i];
	c[SCRIBE_H5D_RW_SWITCHES] = (int64_t)s->rw_switches;
	for (int w = 0; w < 2; w++) {
		c[SCRIBE_H5D_BYTES_READ + w] = (int64_t)s->bytes[w];
		c[SCRIBE_H5D_MAX_READ_TIME_SIZE + w] = (int64_t)s->max_ns_size[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			c[SCRIBE_H5D_SIZE_READ_AGG_0_100 + w * SCRIBE_SIZE_BUCKETS + i] = (int64_t)s->size[w][i];
		f[SCRIBE_H5D_F_READ_START_TIMESTAMP + w] = scribe_quantum_when(s->start[w], base);
		f[SCRIBE_H5D_F_READ_END_TIMESTAMP + w] = scribe_quantum_when(s->end[w], base);
		f[SCRIBE_H5D_F_MAX_READ_TIME + w] = scribe_quantum_seconds(s->max_ns[w]);
	}
	for (int i = 0; i < 3; i++)
		f[SCRIBE_H5D_F_READ_TIME + i] = scribe_quantum_seconds(s->busy_ns[i]);
	f[SCRIBE_H5D_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_H5D_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	f[SCRIBE_H5D_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	f[SCRIBE_H5D_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	put_patterns(SCRIBE_MOD_H5D, c, &acc->access, patterns);
	/* Properties, which the handler sets once instead of counting. */
	c[SCRIBE_H5D_DATASPACE_NDIMS] = (int64_t)acc->ext.v[SCRIBE_LIB_H5D_NDIMS];
	c[SCRIBE_H5D_DATASPACE_NPOINTS] = (int64_t)acc->ext.v[SCRIBE_LIB_H5D_NPOINTS];
	c[SCRIBE_H5D_DATATYPE_SIZE] = (int64_t)acc->ext.v[SCRIBE_LIB_H5D_TYPE_SIZE];
	for (int i = 0; i < 5; i++)
		c[SCRIBE_H5D_CHUNK_SIZE_D1 + i] = (int64_t)acc->ext.v[SCRIBE_LIB_H5D_CHUNK_D1 + i];
	c[SCRIBE_H5D_USE_MPIIO_COLLECTIVE] = flag(acc->ext.v[SCRIBE_LIB_H5D_COLLECTIVE]);
	c[SCRIBE_H5D_USE_DEPRECATED] = acc->ext.v[SCRIBE_LIB_H5D_DEPRECATED] != 0;
	return sizeof(*r);
}

static size_t make_nc_file(const struct scribe_posix_acc *acc, uint64_t base, struct scribe_pnetcdf_file_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;
	double *f = r->fcounters;

	for (int i = 0; i < SCRIBE_PNETCDF_FILE_COUNT; i++)
		r->counters[i] = (int64_t)acc->ext.v[i];
	f[SCRIBE_PNETCDF_FILE_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_PNETCDF_FILE_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	f[SCRIBE_PNETCDF_FILE_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	f[SCRIBE_PNETCDF_FILE_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	f[SCRIBE_PNETCDF_FILE_F_WAIT_START_TIMESTAMP] = scribe_quantum_when(s->start[SCRIBE_OP_READ], base);
	f[SCRIBE_PNETCDF_FILE_F_WAIT_END_TIMESTAMP] = scribe_quantum_when(s->end[SCRIBE_OP_READ], base);
	f[SCRIBE_PNETCDF_FILE_F_META_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_META]);
	f[SCRIBE_PNETCDF_FILE_F_WAIT_TIME] = scribe_quantum_seconds(s->busy_ns[SCRIBE_OP_READ]);
	return sizeof(*r);
}

/* A variable's counter by its index (lib_rules.h). */
static int64_t nc_field(const struct scribe_posix_acc *acc, unsigned field)
{
	struct scribe_posix_shard shard = acc->sum;
	struct scribe_ext_shard ext = acc->ext;

	return (int64_t)*scribe_lib_place_at(&shard, &ext, field);
}

static int64_t nc_sum(const int64_t *c, int first, int last)
{
	int64_t sum = 0;

	for (int i = first; i <= last; i++)
		sum += c[i];
	return sum;
}

static void nc_counts(const struct scribe_posix_acc *acc, int64_t *c)
{
	/* Each form of get and put is counted. Collective calls are all blocking ones minus the independent ones. */
	for (int i = SCRIBE_PNETCDF_VAR_PUT_VAR; i <= SCRIBE_PNETCDF_VAR_BPUT_VARN; i++)
		c[i] = nc_field(acc, (unsigned)(i - SCRIBE_PNETCDF_VAR_PUT_VAR) + SCRIBE_LIB_NC_FORMS);
	c[SCRIBE_PNETCDF_VAR_OPENS] = nc_field(acc, SCRIBE_LIB_NC_OPENS);
	c[SCRIBE_PNETCDF_VAR_INDEP_READS] = nc_field(acc, SCRIBE_LIB_NC_INDEP_READS);
	c[SCRIBE_PNETCDF_VAR_INDEP_WRITES] = nc_field(acc, SCRIBE_LIB_NC_INDEP_WRITES);
	c[SCRIBE_PNETCDF_VAR_COLL_READS] =
		nc_sum(c, SCRIBE_PNETCDF_VAR_GET_VAR, SCRIBE_PNETCDF_VAR_GET_VARD) - c[SCRIBE_PNETCDF_VAR_INDEP_READS];
	c[SCRIBE_PNETCDF_VAR_COLL_WRITES] =
		nc_sum(c, SCRIBE_PNETCDF_VAR_PUT_VAR, SCRIBE_PNETCDF_VAR_PUT_VARD) - c[SCRIBE_PNETCDF_VAR_INDEP_WRITES];
	c[SCRIBE_PNETCDF_VAR_NB_READS] = nc_sum(c, SCRIBE_PNETCDF_VAR_IGET_VAR, SCRIBE_PNETCDF_VAR_IGET_VARN);
	c[SCRIBE_PNETCDF_VAR_NB_WRITES] = nc_sum(c, SCRIBE_PNETCDF_VAR_IPUT_VAR, SCRIBE_PNETCDF_VAR_IPUT_VARN) +
					  nc_sum(c, SCRIBE_PNETCDF_VAR_BPUT_VAR, SCRIBE_PNETCDF_VAR_BPUT_VARN);
}

static size_t make_nc_var(const struct scribe_posix_acc *acc, uint64_t base, const struct patterns *patterns,
			  struct scribe_pnetcdf_var_record *r)
{
	uint64_t pattern = acc->ext.v[SCRIBE_LIB_NC_SHAPE];
	const struct scribe_posix_shard *s = &acc->sum;
	int64_t *c = r->counters;
	double *f = r->fcounters;

	nc_counts(acc, c);
	c[SCRIBE_PNETCDF_VAR_RW_SWITCHES] = (int64_t)s->rw_switches;
	for (int w = 0; w < 2; w++) {
		c[SCRIBE_PNETCDF_VAR_BYTES_READ + w] = (int64_t)s->bytes[w];
		c[SCRIBE_PNETCDF_VAR_MAX_READ_TIME_SIZE + w] = (int64_t)s->max_ns_size[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			c[SCRIBE_PNETCDF_VAR_SIZE_READ_AGG_0_100 + w * SCRIBE_SIZE_BUCKETS + i] =
				(int64_t)s->size[w][i];
		f[SCRIBE_PNETCDF_VAR_F_READ_START_TIMESTAMP + w] = scribe_quantum_when(s->start[w], base);
		f[SCRIBE_PNETCDF_VAR_F_READ_END_TIMESTAMP + w] = scribe_quantum_when(s->end[w], base);
		f[SCRIBE_PNETCDF_VAR_F_MAX_READ_TIME + w] = scribe_quantum_seconds(s->max_ns[w]);
	}
	for (int i = 0; i < 3; i++)
		f[SCRIBE_PNETCDF_VAR_F_READ_TIME + i] = scribe_quantum_seconds(s->busy_ns[i]);
	f[SCRIBE_PNETCDF_VAR_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_PNETCDF_VAR_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	put_patterns(SCRIBE_MOD_PNETCDF_VAR, c, &acc->access, patterns);
	c[SCRIBE_PNETCDF_VAR_NDIMS] = (int64_t)(pattern & 0xffff);
	c[SCRIBE_PNETCDF_VAR_DATATYPE_SIZE] = (int64_t)(pattern >> 16 & 0xffff);
	c[SCRIBE_PNETCDF_VAR_IS_RECORD_VAR] = (int64_t)(pattern >> 32 & 1);
	c[SCRIBE_PNETCDF_VAR_NPOINTS] = (int64_t)acc->ext.v[SCRIBE_LIB_NC_NPOINTS];
	return sizeof(*r);
}

static size_t make_cufile(const struct scribe_posix_acc *acc, uint64_t base, struct scribe_cufile_record *r)
{
	const struct scribe_posix_shard *s = &acc->sum;
	int64_t *c = r->counters;
	double *f = r->fcounters;

	for (int i = SCRIBE_CUFILE_REGISTERS; i <= SCRIBE_CUFILE_BATCHED; i++)
		c[i] = (int64_t)acc->ext.v[i];
	for (int w = 0; w < 2; w++) {
		c[SCRIBE_CUFILE_BYTES_READ + w] = (int64_t)s->bytes[w];
		c[SCRIBE_CUFILE_MAX_READ_TIME_SIZE + w] = (int64_t)s->max_ns_size[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			c[SCRIBE_CUFILE_SIZE_READ_AGG_0_100 + w * SCRIBE_SIZE_BUCKETS + i] = (int64_t)s->size[w][i];
		f[SCRIBE_CUFILE_F_READ_START_TIMESTAMP + w] = scribe_quantum_when(s->start[w], base);
		f[SCRIBE_CUFILE_F_READ_END_TIMESTAMP + w] = scribe_quantum_when(s->end[w], base);
		f[SCRIBE_CUFILE_F_MAX_READ_TIME + w] = scribe_quantum_seconds(s->max_ns[w]);
	}
	for (int i = 0; i < 3; i++)
		f[SCRIBE_CUFILE_F_READ_TIME + i] = scribe_quantum_seconds(s->busy_ns[i]);
	return sizeof(*r);
}

size_t scribe_lib_record_make(int module, const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
			      uint64_t base_mono_ns, int64_t mode, scribe_access_pattern_fn pattern, void *ctx,
			      union scribe_lib_record *ret_rec)
{
	struct patterns patterns = {pattern, ctx};

	memset(ret_rec, 0, sizeof(*ret_rec));
	ret_rec->base = (struct scribe_base_record){id, rank};
	switch (module) {
	case SCRIBE_MOD_STDIO:
		return make_stdio(acc, base_mono_ns, &ret_rec->stdio);
	case SCRIBE_MOD_MPIIO:
		return make_mpiio(acc, base_mono_ns, mode, &ret_rec->mpiio);
	case SCRIBE_MOD_H5F:
		return make_h5f(acc, base_mono_ns, &ret_rec->h5f);
	case SCRIBE_MOD_H5D:
		return make_h5d(acc, base_mono_ns, &patterns, &ret_rec->h5d);
	case SCRIBE_MOD_PNETCDF_FILE:
		return make_nc_file(acc, base_mono_ns, &ret_rec->nc_file);
	case SCRIBE_MOD_PNETCDF_VAR:
		return make_nc_var(acc, base_mono_ns, &patterns, &ret_rec->nc_var);
	case SCRIBE_MOD_CUFILE:
		return make_cufile(acc, base_mono_ns, &ret_rec->cufile);
	default:
		return 0;
	}
}

/* The loops over read and write depend on these. */
_Static_assert(SCRIBE_MPIIO_BYTES_WRITTEN == SCRIBE_MPIIO_BYTES_READ + 1 &&
		       SCRIBE_MPIIO_MAX_WRITE_TIME_SIZE == SCRIBE_MPIIO_MAX_READ_TIME_SIZE + 1 &&
		       SCRIBE_MPIIO_SIZE_WRITE_AGG_0_100 == SCRIBE_MPIIO_SIZE_READ_AGG_0_100 + SCRIBE_SIZE_BUCKETS &&
		       SCRIBE_MPIIO_F_WRITE_START_TIMESTAMP == SCRIBE_MPIIO_F_READ_START_TIMESTAMP + 1 &&
		       SCRIBE_MPIIO_F_WRITE_END_TIMESTAMP == SCRIBE_MPIIO_F_READ_END_TIMESTAMP + 1 &&
		       SCRIBE_MPIIO_F_MAX_WRITE_TIME == SCRIBE_MPIIO_F_MAX_READ_TIME + 1 &&
		       SCRIBE_MPIIO_F_WRITE_TIME == SCRIBE_MPIIO_F_READ_TIME + 1 &&
		       SCRIBE_MPIIO_F_META_TIME == SCRIBE_MPIIO_F_READ_TIME + 2,
	       "order of counters");
_Static_assert(sizeof(struct scribe_access_pattern) == SCRIBE_VALUE_WIDTH * sizeof(int64_t),
	       "a shape is a common value");
_Static_assert((int)SCRIBE_MPIIO_VIEWS < (int)SCRIBE_EXT_COUNT, "MPI-IO's own counters fit the ext shard");
