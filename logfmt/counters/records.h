/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of log format 3.41 (docs/format.md) in native byte order: header, job, newest record of each module. */
#ifndef LOGFMT_COUNTERS_RECORDS_H
#define LOGFMT_COUNTERS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/counters_apmpi.h"
#include "logfmt/counters/counters_cufile.h"
#include "logfmt/counters/counters_daos.h"
#include "logfmt/counters/counters_hdf5.h"
#include "logfmt/counters/counters_mpiio.h"
#include "logfmt/counters/counters_own.h"
#include "logfmt/counters/counters_pnetcdf.h"
#include "logfmt/counters/counters_posix.h"
#include "logfmt/counters/counters_site.h"
#include "logfmt/counters/counters_stdio.h"
#include "logfmt/counters/ledger_list.h"
#include "logfmt/rules/cache_counts.h"
#include "logfmt/rules/posix_shard.h"

#ifdef __cplusplus
#define SCRIBE_STATIC_ASSERT static_assert
#else
#define SCRIBE_STATIC_ASSERT _Static_assert
#endif

#define SCRIBE_MAX_MODULES 64
#define SCRIBE_LOG_MAGIC 6567223
#define SCRIBE_LOG_VERSION "3.41"
#define SCRIBE_JOB_METADATA_BYTES 1024
#define SCRIBE_JOB_REGION_BYTES 4096 /* of job record, exe line and mounts, at most */
#define SCRIBE_EXE_BYTES 3015        /* of exe line and mounts, without NUL */

/* The order of regions in a log. */
enum scribe_module_id {
	SCRIBE_MOD_NULL = 0,
	SCRIBE_MOD_POSIX = 1,
	SCRIBE_MOD_MPIIO = 2,
	SCRIBE_MOD_H5F = 3,
	SCRIBE_MOD_H5D = 4,
	SCRIBE_MOD_PNETCDF_FILE = 5,
	SCRIBE_MOD_PNETCDF_VAR = 6,
	SCRIBE_MOD_BGQ = 7,
	SCRIBE_MOD_LUSTRE = 8,
	SCRIBE_MOD_STDIO = 9,
	SCRIBE_MOD_DXT_POSIX = 10,
	SCRIBE_MOD_DXT_MPIIO = 11,
	SCRIBE_MOD_MDHIM = 12,
	SCRIBE_MOD_APXC = 13,
	SCRIBE_MOD_APMPI = 14,
	SCRIBE_MOD_HEATMAP = 15,
	SCRIBE_MOD_DFS = 16,
	SCRIBE_MOD_DAOS = 17,
	SCRIBE_MOD_POSIX_EXT = 48,
	SCRIBE_MOD_PROCESS = 49,
	SCRIBE_MOD_LEDGER = 50,
	SCRIBE_MOD_LAYERS = 51,
	SCRIBE_MOD_CACHE = 52,
	SCRIBE_MOD_MOUNTS = 53,
	SCRIBE_MOD_CUFILE = 54,
};

enum scribe_compression { SCRIBE_COMP_ZLIB = 0, SCRIBE_COMP_BZIP2 = 1, SCRIBE_COMP_NONE = 2, SCRIBE_COMP_ZSTD = 3 };

struct scribe_log_map {
	uint64_t off;
	uint64_t len; /* compressed bytes; 0: absent */
};

struct scribe_log_header {
	char version[8];
	int64_t magic;
	uint8_t comp_type; /* enum scribe_compression */
	uint8_t pad[7];
	uint64_t partial_flag; /* bit i: module i ran out of memory */
	struct scribe_log_map name_map;
	struct scribe_log_map mod_map[SCRIBE_MAX_MODULES];
	uint32_t mod_ver[SCRIBE_MAX_MODULES];
};

/*
 * Modules 48 to 63 are in a trailer, announced by SCRIBE_TRAILER_MARK in the header, because some stock tools fail
 * on unknown modules. Byte order of the header.
 */
#define SCRIBE_OWN_FIRST 48
#define SCRIBE_OWN_MODULES (SCRIBE_MAX_MODULES - SCRIBE_OWN_FIRST)
#define SCRIBE_TRAILER_MARK "ioscrib"  /* the 7 bytes of pad */
#define SCRIBE_TRAILER_MAGIC "IOSCRIBE" /* the file's last 8 bytes */

/* Names that the name region cannot hold, packed as id, 32-bit length, bytes. */
#define SCRIBE_EXACT_NAMES (SCRIBE_MAX_MODULES - 1)
#define SCRIBE_EXACT_NAMES_VERSION 1

struct scribe_log_trailer {
	struct scribe_log_map map[SCRIBE_OWN_MODULES];
	uint32_t ver[SCRIBE_OWN_MODULES];
	uint64_t partial_flag; /* bits 48 to 63 */
	char magic[8];
};

struct scribe_log_job {
	int64_t uid;
	int64_t start_time_sec, start_time_nsec;
	int64_t end_time_sec, end_time_nsec;
	int64_t nprocs;
	int64_t jobid;
	char metadata[SCRIBE_JOB_METADATA_BYTES]; /* "key=value\n" lines with NUL */
};

struct scribe_base_record {
	uint64_t id;
	int64_t rank; /* -1: shared by all ranks */
};

#define SCRIBE_COUNTER_RECORD(name, NAME) \
	struct scribe_##name##_record { \
		struct scribe_base_record base; \
		int64_t counters[SCRIBE_##NAME##_COUNT]; \
		double fcounters[SCRIBE_##NAME##_F_COUNT]; \
	}

SCRIBE_COUNTER_RECORD(null, NULL);
SCRIBE_COUNTER_RECORD(posix, POSIX);
SCRIBE_COUNTER_RECORD(mpiio, MPIIO);
SCRIBE_COUNTER_RECORD(stdio, STDIO);
SCRIBE_COUNTER_RECORD(h5f, H5F);
SCRIBE_COUNTER_RECORD(pnetcdf_file, PNETCDF_FILE);
SCRIBE_COUNTER_RECORD(bgq, BGQ);

struct scribe_h5d_record {
	struct scribe_base_record base;
	uint64_t file_rec_id;
	int64_t counters[SCRIBE_H5D_COUNT];
	double fcounters[SCRIBE_H5D_F_COUNT];
};

struct scribe_pnetcdf_var_record {
	struct scribe_base_record base;
	uint64_t file_rec_id;
	int64_t counters[SCRIBE_PNETCDF_VAR_COUNT];
	double fcounters[SCRIBE_PNETCDF_VAR_F_COUNT];
};

struct scribe_dfs_record {
	struct scribe_base_record base;
	int64_t counters[SCRIBE_DFS_COUNT];
	double fcounters[SCRIBE_DFS_F_COUNT];
	uint8_t pool_uuid[16], cont_uuid[16];
};

struct scribe_daos_record {
	struct scribe_base_record base;
	int64_t counters[SCRIBE_DAOS_COUNT];
	double fcounters[SCRIBE_DAOS_F_COUNT];
	uint8_t pool_uuid[16], cont_uuid[16];
	uint64_t oid_hi, oid_lo;
};

enum scribe_lustre_comp_id {
	SCRIBE_LUSTRE_COMP_STRIPE_SIZE,
	SCRIBE_LUSTRE_COMP_STRIPE_COUNT,
	SCRIBE_LUSTRE_COMP_STRIPE_PATTERN,
	SCRIBE_LUSTRE_COMP_FLAGS,
	SCRIBE_LUSTRE_COMP_EXT_START,
	SCRIBE_LUSTRE_COMP_EXT_END,
	SCRIBE_LUSTRE_COMP_MIRROR_ID,
	SCRIBE_LUSTRE_COMP_COUNT
};

struct scribe_lustre_comp {
	int64_t counters[SCRIBE_LUSTRE_COMP_COUNT];
	char pool_name[16];
};

/* Followed by num_comps components, then num_stripes int64_t OST ids. */
struct scribe_lustre_record {
	struct scribe_base_record base;
	int64_t num_comps;
	int64_t num_stripes;
	struct scribe_lustre_comp comps[];
};

struct scribe_dxt_segment {
	int64_t offset, length; /* bytes */
	double start, end;      /* seconds */
	uint64_t thread;        /* pthread id; 0: unknown */
};

/* Followed by write_count, then read_count segments, in memory always of 40 bytes. */
struct scribe_dxt_record {
	struct scribe_base_record base;
	int64_t shared_record;
	char hostname[64];
	int64_t write_count, read_count;
	struct scribe_dxt_segment segments[];
};

/* Followed by SERVERS int64_t (at least one). */
struct scribe_mdhim_record {
	struct scribe_base_record base;
	int64_t counters[SCRIBE_MDHIM_COUNT];
	double fcounters[SCRIBE_MDHIM_F_COUNT];
	int64_t server_histogram[];
};

/* Followed by nbins int64_t of bytes written, then nbins of bytes read. */
struct scribe_heatmap_record {
	struct scribe_base_record base;
	double bin_width_seconds;
	int64_t nbins;
	uint64_t unused[2]; /* Darshan's pointers: zero */
	int64_t bins[];
};

/* One header record (magic in the third word), then one record per rank. */
struct scribe_apmpi_header_record {
	struct scribe_base_record base;
	int64_t magic;
	uint32_t sync_flag; /* 1: synchronisation was timed */
	uint32_t pad;
	double variance_total_mpitime;
	double variance_total_mpisynctime;
};

struct scribe_apmpi_record {
	struct scribe_base_record base;
	uint64_t counters[SCRIBE_APMPI_COUNT];
	double fcounters[SCRIBE_APMPI_F_COUNT];
	double fsync[SCRIBE_APMPI_F_SYNC_COUNT];
	double fglobal[SCRIBE_APMPI_F_GLOBAL_COUNT];
	char node_name[128];
};

enum scribe_ext_ranks_id {
	SCRIBE_EXT_BEFORE_RANKS = SCRIBE_EXT_CLOSE_NS - 1,
#define SCRIBE_X(name, text) SCRIBE_EXT_##name,
	SCRIBE_EXT_RANKS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_POSIX_EXT_COUNT
};
#define SCRIBE_POSIX_EXT_F_COUNT (SCRIBE_EXT_COUNT - SCRIBE_EXT_CLOSE_NS)
SCRIBE_COUNTER_RECORD(posix_ext, POSIX_EXT); /* fcounters: CLOSE_TIME, META_TIME, seconds */

struct scribe_process_record {
	struct scribe_base_record base; /* id of "process:<host>:<proc_id>" */
#define SCRIBE_X(NAME, name, text) int64_t name;
	SCRIBE_PROCESS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(NAME, name, text) double name;
	SCRIBE_PROCESS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	char host[64];
	char exe[256];
	char pad[48];
};

SCRIBE_COUNTER_RECORD(layers, LAYERS);
SCRIBE_COUNTER_RECORD(cache, CACHE);
SCRIBE_COUNTER_RECORD(mounts, MOUNTS);
SCRIBE_COUNTER_RECORD(cufile, CUFILE);

#define SCRIBE_LEDGER_PLACES 64
#define SCRIBE_LEDGER_F_PLACES 8
struct scribe_ledger_record {
	struct scribe_base_record base; /* id of "ledger:<host>", rank -1 */
	int64_t counters[SCRIBE_LEDGER_PLACES];
	double fcounters[SCRIBE_LEDGER_F_PLACES];
};

#define SCRIBE_SAME_SIZE(type, bytes) SCRIBE_STATIC_ASSERT(sizeof(struct type) == (bytes), #type)
SCRIBE_SAME_SIZE(scribe_log_header, 1328);
SCRIBE_SAME_SIZE(scribe_log_job, 1080);
SCRIBE_SAME_SIZE(scribe_log_trailer, 336);
SCRIBE_SAME_SIZE(scribe_null_record, 48);
SCRIBE_SAME_SIZE(scribe_posix_record, 704);
SCRIBE_SAME_SIZE(scribe_mpiio_record, 560);
SCRIBE_SAME_SIZE(scribe_h5f_record, 80);
SCRIBE_SAME_SIZE(scribe_h5d_record, 912);
SCRIBE_SAME_SIZE(scribe_pnetcdf_file_record, 152);
SCRIBE_SAME_SIZE(scribe_pnetcdf_var_record, 1120);
SCRIBE_SAME_SIZE(scribe_bgq_record, 112);
SCRIBE_SAME_SIZE(scribe_lustre_record, 32);
SCRIBE_SAME_SIZE(scribe_lustre_comp, 72);
SCRIBE_SAME_SIZE(scribe_stdio_record, 248);
SCRIBE_SAME_SIZE(scribe_dxt_record, 104);
SCRIBE_SAME_SIZE(scribe_dxt_segment, 40);
SCRIBE_SAME_SIZE(scribe_mdhim_record, 88);
SCRIBE_SAME_SIZE(scribe_heatmap_record, 48);
SCRIBE_SAME_SIZE(scribe_apmpi_header_record, 48);
SCRIBE_SAME_SIZE(scribe_dfs_record, 584);
SCRIBE_SAME_SIZE(scribe_daos_record, 696);
SCRIBE_SAME_SIZE(scribe_process_record, 512);
SCRIBE_SAME_SIZE(scribe_ledger_record, 592);
SCRIBE_STATIC_ASSERT(offsetof(struct scribe_log_header, mod_ver) == 1072, "header");
SCRIBE_STATIC_ASSERT(offsetof(struct scribe_h5d_record, fcounters) == 776, "h5d");
SCRIBE_STATIC_ASSERT(offsetof(struct scribe_pnetcdf_var_record, fcounters) == 984, "pnetcdf_var");
SCRIBE_STATIC_ASSERT(offsetof(struct scribe_dfs_record, pool_uuid) == 552, "dfs");
SCRIBE_STATIC_ASSERT(offsetof(struct scribe_daos_record, oid_hi) == 680, "daos");

#endif
