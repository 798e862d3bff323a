/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and layouts of Darshan's C interface (release 3.5.0), for programs that
 * were written to it. Counter names come from the lists in logfmt/.
 */
#ifndef IOSCRIBE_COMPAT_DARSHAN_LOG_FORMAT_H
#define IOSCRIBE_COMPAT_DARSHAN_LOG_FORMAT_H

#include <inttypes.h>
#include <stdint.h>
#include <sys/types.h>

#include "darshan-counters.h"

#define DARSHAN_LOG_VERSION "3.41"
#define DARSHAN_MAGIC_NR 6567223
#define DARSHAN_JOB_RECORD_SIZE 4096
#define DARSHAN_JOB_METADATA_LEN 1024
#define DARSHAN_EXE_LEN (DARSHAN_JOB_RECORD_SIZE - sizeof(struct darshan_job) - 1)
#define DARSHAN_MAX_MODS 64
#define DARSHAN_MOD_FLAG_SET(flags, id) ((flags) |= 1ULL << (id))
#define DARSHAN_MOD_FLAG_UNSET(flags, id) ((flags) &= ~(1ULL << (id)))
#define DARSHAN_MOD_FLAG_ISSET(flags, id) ((flags) & (1ULL << (id)))

enum darshan_comp_type { DARSHAN_ZLIB_COMP, DARSHAN_BZIP2_COMP, DARSHAN_NO_COMP };

typedef uint64_t darshan_record_id;

struct darshan_log_map {
	uint64_t off, len;
};

struct darshan_header {
	char version_string[8];
	int64_t magic_nr;
	unsigned char comp_type;
	uint64_t partial_flag;
	struct darshan_log_map name_map;
	struct darshan_log_map mod_map[DARSHAN_MAX_MODS];
	uint32_t mod_ver[DARSHAN_MAX_MODS];
};

struct darshan_job {
	int64_t uid;
	int64_t start_time_sec, start_time_nsec;
	int64_t end_time_sec, end_time_nsec;
	int64_t nprocs;
	int64_t jobid;
	char metadata[DARSHAN_JOB_METADATA_LEN];
};

struct darshan_name_record {
	darshan_record_id id;
	char name[1];
};

struct darshan_base_record {
	darshan_record_id id;
	int64_t rank;
};

/*
 * 1: the layout of Darshan's main line after 3.5.0, for libdarshan-util in
 * LIBDIR/ioscribe/darshan-next: DXT segments name their thread.
 */
#ifndef DARSHAN_DXT_THREADS
#define DARSHAN_DXT_THREADS 0
#endif

/* Newest record versions. */
#define DARSHAN_NULL_VER 1
#define DARSHAN_POSIX_VER 4
#define DARSHAN_MPIIO_VER 3
#define DARSHAN_H5F_VER 3
#define DARSHAN_H5D_VER 2
#define DARSHAN_PNETCDF_FILE_VER 3
#define DARSHAN_PNETCDF_VAR_VER 1
#define DARSHAN_BGQ_VER 2
#define DARSHAN_LUSTRE_VER 2
#define DARSHAN_STDIO_VER 2
#define DXT_POSIX_VER (1 + DARSHAN_DXT_THREADS)
#define DXT_MPIIO_VER (2 + DARSHAN_DXT_THREADS)
#define DARSHAN_MDHIM_VER 1
#define APMPI_VER 1
#define DARSHAN_HEATMAP_VER 1
#define DARSHAN_DFS_VER 1
#define DARSHAN_DAOS_VER 1

/* id, printed name, newest record version */
#define DARSHAN_MODULES(X) \
	X(DARSHAN_NULL_MOD, "NULL", DARSHAN_NULL_VER) \
	X(DARSHAN_POSIX_MOD, "POSIX", DARSHAN_POSIX_VER) \
	X(DARSHAN_MPIIO_MOD, "MPI-IO", DARSHAN_MPIIO_VER) \
	X(DARSHAN_H5F_MOD, "H5F", DARSHAN_H5F_VER) \
	X(DARSHAN_H5D_MOD, "H5D", DARSHAN_H5D_VER) \
	X(DARSHAN_PNETCDF_FILE_MOD, "PNETCDF_FILE", DARSHAN_PNETCDF_FILE_VER) \
	X(DARSHAN_PNETCDF_VAR_MOD, "PNETCDF_VAR", DARSHAN_PNETCDF_VAR_VER) \
	X(DARSHAN_BGQ_MOD, "BG/Q", DARSHAN_BGQ_VER) \
	X(DARSHAN_LUSTRE_MOD, "LUSTRE", DARSHAN_LUSTRE_VER) \
	X(DARSHAN_STDIO_MOD, "STDIO", DARSHAN_STDIO_VER) \
	X(DXT_POSIX_MOD, "DXT_POSIX", DXT_POSIX_VER) \
	X(DXT_MPIIO_MOD, "DXT_MPIIO", DXT_MPIIO_VER) \
	X(DARSHAN_MDHIM_MOD, "MDHIM", DARSHAN_MDHIM_VER) \
	X(DARSHAN_APXC_MOD, "APXC", 0) \
	X(DARSHAN_APMPI_MOD, "APMPI", APMPI_VER) \
	X(DARSHAN_HEATMAP_MOD, "HEATMAP", DARSHAN_HEATMAP_VER) \
	X(DARSHAN_DFS_MOD, "DFS", DARSHAN_DFS_VER) \
	X(DARSHAN_DAOS_MOD, "DAOS", DARSHAN_DAOS_VER)

typedef enum {
#define DARSHAN_X(id, name, version) id,
	DARSHAN_MODULES(DARSHAN_X)
#undef DARSHAN_X
	DARSHAN_KNOWN_MODULE_COUNT
} darshan_module_id;

static const char *const darshan_module_names[] __attribute__((unused)) = {
#define DARSHAN_X(id, name, version) name,
	DARSHAN_MODULES(DARSHAN_X)
#undef DARSHAN_X
};

static const int darshan_module_versions[] __attribute__((unused)) = {
#define DARSHAN_X(id, name, version) version,
	DARSHAN_MODULES(DARSHAN_X)
#undef DARSHAN_X
};

#define H5D_MAX_NDIMS 5
#define PNETCDF_VAR_MAX_NDIMS 5
#define HOSTNAME_SIZE 64

#define DARSHAN_RECORD(name, NAME) \
	struct name { \
		struct darshan_base_record base_rec; \
		int64_t counters[NAME##_NUM_INDICES]; \
		double fcounters[NAME##_F_NUM_INDICES]; \
	}
DARSHAN_RECORD(darshan_null_record, NULL);
DARSHAN_RECORD(darshan_posix_file, POSIX);
DARSHAN_RECORD(darshan_mpiio_file, MPIIO);
DARSHAN_RECORD(darshan_stdio_file, STDIO);
DARSHAN_RECORD(darshan_hdf5_file, H5F);
DARSHAN_RECORD(darshan_pnetcdf_file, PNETCDF_FILE);
DARSHAN_RECORD(darshan_bgq_record, BGQ);

struct darshan_hdf5_dataset {
	struct darshan_base_record base_rec;
	uint64_t file_rec_id;
	int64_t counters[H5D_NUM_INDICES];
	double fcounters[H5D_F_NUM_INDICES];
};

struct darshan_pnetcdf_var {
	struct darshan_base_record base_rec;
	uint64_t file_rec_id;
	int64_t counters[PNETCDF_VAR_NUM_INDICES];
	double fcounters[PNETCDF_VAR_F_NUM_INDICES];
};

typedef int64_t OST_ID;

struct darshan_lustre_component {
	int64_t counters[LUSTRE_COMP_NUM_INDICES];
	char pool_name[16];
};

struct darshan_lustre_record {
	struct darshan_base_record base_rec;
	int64_t num_comps, num_stripes;
	struct darshan_lustre_component *comps; /* in the same allocation, after the record */
	OST_ID *ost_ids;
};
#define LUSTRE_RECORD_SIZE(comps, stripes) \
	(sizeof(struct darshan_base_record) + 2 * sizeof(int64_t) + \
	 sizeof(struct darshan_lustre_component) * (comps) + sizeof(OST_ID) * (stripes))

struct darshan_mdhim_record {
	struct darshan_base_record base_rec;
	int64_t counters[MDHIM_NUM_INDICES];
	double fcounters[MDHIM_F_NUM_INDICES];
	int64_t server_histogram[1];
};
#define MDHIM_RECORD_SIZE(servers) (sizeof(struct darshan_mdhim_record) + sizeof(int64_t) * ((servers)-1))

typedef struct segment_info {
	int64_t offset, length;
	double start_time, end_time;
#if DARSHAN_DXT_THREADS
	unsigned long pthread_id;
#endif
} segment_info;

/* Then write_count segments, then read_count. */
struct dxt_file_record {
	struct darshan_base_record base_rec;
	int64_t shared_record;
	char hostname[HOSTNAME_SIZE];
	int64_t write_count, read_count;
};

struct darshan_heatmap_record {
	struct darshan_base_record base_rec;
	double bin_width_seconds;
	int64_t nbins;
	int64_t *write_bins, *read_bins; /* in the same allocation, after the record */
};

struct darshan_dfs_file {
	struct darshan_base_record base_rec;
	int64_t counters[DFS_NUM_INDICES];
	double fcounters[DFS_F_NUM_INDICES];
	unsigned char pool_uuid[16], cont_uuid[16];
};

struct darshan_daos_object {
	struct darshan_base_record base_rec;
	int64_t counters[DAOS_NUM_INDICES];
	double fcounters[DAOS_F_NUM_INDICES];
	unsigned char pool_uuid[16], cont_uuid[16];
	uint64_t oid_hi, oid_lo;
};

struct darshan_apmpi_header_record {
	struct darshan_base_record base_rec;
	int64_t magic;
	uint32_t sync_flag;
	double apmpi_f_variance_total_mpitime;
	double apmpi_f_variance_total_mpisynctime;
};

struct darshan_apmpi_perf_record {
	struct darshan_base_record base_rec;
	uint64_t counters[SCRIBE_APMPI_COUNT];
	double fcounters[SCRIBE_APMPI_F_COUNT];
	double fsynccounters[SCRIBE_APMPI_F_SYNC_COUNT];
	double fglobalcounters[SCRIBE_APMPI_F_GLOBAL_COUNT];
	char node_name[128];
};

#endif
