/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Darshan's C interface (release 3.5.0) on the ioscribe log library: same names, layouts and results;
 * libdarshan-util.so takes its place. Functions here print failures on standard error, as their callers expect.
 * Differences in behaviour: docs/c-interface.md.
 */
#ifndef IOSCRIBE_COMPAT_DARSHAN_LOGUTILS_H
#define IOSCRIBE_COMPAT_DARSHAN_LOGUTILS_H

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "darshan-log-format.h"
#include "darshan-uthash.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DEF_MOD_BUF_SIZE 81920 /* size that a buffer of the caller's must have */

struct darshan_fd_int_state;

struct darshan_fd_s {
	char version[8];
	int swap_flag;
	uint64_t partial_flag;
	enum darshan_comp_type comp_type;
	struct darshan_log_map job_map;
	struct darshan_log_map name_map;
	struct darshan_log_map mod_map[DARSHAN_MAX_MODS];
	uint32_t mod_ver[DARSHAN_MAX_MODS];
	struct darshan_fd_int_state *state; /* private */
	int64_t first_heatmap_record_nbins;
	double first_heatmap_record_bin_width_seconds;
};
typedef struct darshan_fd_s *darshan_fd;

struct darshan_name_record_ref {
	struct darshan_name_record *name_record;
	UT_hash_handle hlink;
};

struct lustre_record_ref {
	struct darshan_lustre_record *rec;
	UT_hash_handle hlink;
};

struct darshan_mnt_info {
	char mnt_type[DARSHAN_EXE_LEN];
	char mnt_path[DARSHAN_EXE_LEN];
};

struct darshan_mod_info {
	const char *name; /* never NULL: only modules of this interface are listed */
	int len;
	int ver;
	int idx;
	int partial_flag;
};

struct darshan_name_record_info {
	darshan_record_id id;
	char *name;
};

/* What a module can do; NULL: not for this module. */
struct darshan_mod_logutil_funcs {
	int (*log_get_record)(darshan_fd fd, void **buf); /* 1, 0 at the end, -1 */
	int (*log_put_record)(darshan_fd fd, void *buf);  /* 0, -1 */
	void (*log_print_record)(void *rec, char *file_name, char *mnt_pt, char *fs_type);
	void (*log_print_description)(int ver);
	void (*log_print_diff)(void *rec1, char *name1, void *rec2, char *name2);
	void (*log_agg_records)(void *rec, void *agg_rec, int init_flag);
	int (*log_sizeof_record)(void *rec);
	int (*log_record_metrics)(void *rec, uint64_t *rec_id, int64_t *r_bytes, int64_t *w_bytes,
				  int64_t *max_offset, double *io_total_time, double *md_only_time,
				  double *rw_only_time, int64_t *rank, int64_t *nprocs);
};

extern struct darshan_mod_logutil_funcs *mod_logutils[];

extern char *posix_counter_names[], *posix_f_counter_names[];
extern char *mpiio_counter_names[], *mpiio_f_counter_names[];
extern char *stdio_counter_names[], *stdio_f_counter_names[];
extern char *h5f_counter_names[], *h5f_f_counter_names[];
extern char *h5d_counter_names[], *h5d_f_counter_names[];
extern char *pnetcdf_file_counter_names[], *pnetcdf_file_f_counter_names[];
extern char *pnetcdf_var_counter_names[], *pnetcdf_var_f_counter_names[];
extern char *bgq_counter_names[], *bgq_f_counter_names[];
extern char *mdhim_counter_names[], *mdhim_f_counter_names[];
extern char *null_counter_names[], *null_f_counter_names[];
extern char *dfs_counter_names[], *dfs_f_counter_names[];
extern char *daos_counter_names[], *daos_f_counter_names[];
extern char *lustre_comp_counter_names[];
extern char *apmpi_counter_names[], *apmpi_f_mpiop_totaltime_counter_names[];
extern char *apmpi_f_mpiop_synctime_counter_names[], *apmpi_f_mpi_global_counter_names[];

/* One row of text as darshan-parser prints it. */
#define DARSHAN_PRINT_HEADER() \
	printf("\n#<module>\t<rank>\t<record id>\t<counter>\t<value>\t<file name>\t<mount pt>\t<fs type>\n")
#define DARSHAN_COUNTER_PRINT(fmt, mod, rank, id, counter, value, name, mnt, fs) \
	printf("%s\t%" PRId64 "\t%" PRIu64 "\t%s\t" fmt "\t%s\t%s\t%s\n", mod, rank, id, counter, value, name, \
	       mnt, fs)
#define DARSHAN_D_COUNTER_PRINT(...) DARSHAN_COUNTER_PRINT("%" PRId64, __VA_ARGS__)
#define DARSHAN_U_COUNTER_PRINT(...) DARSHAN_COUNTER_PRINT("%" PRIu64, __VA_ARGS__)
#define DARSHAN_I_COUNTER_PRINT(...) DARSHAN_COUNTER_PRINT("%d", __VA_ARGS__)
#define DARSHAN_F_COUNTER_PRINT(...) DARSHAN_COUNTER_PRINT("%f", __VA_ARGS__)
#define DARSHAN_S_COUNTER_PRINT(...) DARSHAN_COUNTER_PRINT("%s", __VA_ARGS__)

/* Turn the bytes of a value in place. */
#define DARSHAN_BSWAP128(p) \
	do { \
		uint64_t darshan_w[2]; \
		memcpy(darshan_w, (p), 16); \
		darshan_w[0] = __builtin_bswap64(darshan_w[0]); \
		darshan_w[1] = __builtin_bswap64(darshan_w[1]); \
		memcpy((p), &darshan_w[1], 8); \
		memcpy((char *)(p) + 8, &darshan_w[0], 8); \
	} while (0)
#define DARSHAN_BSWAP64(p) \
	do { \
		uint64_t darshan_w; \
		memcpy(&darshan_w, (p), 8); \
		darshan_w = __builtin_bswap64(darshan_w); \
		memcpy((p), &darshan_w, 8); \
	} while (0)
#define DARSHAN_BSWAP32(p) \
	do { \
		uint32_t darshan_w; \
		memcpy(&darshan_w, (p), 4); \
		darshan_w = __builtin_bswap32(darshan_w); \
		memcpy((p), &darshan_w, 4); \
	} while (0)

darshan_fd darshan_log_open(const char *name);
darshan_fd darshan_log_create(const char *name, enum darshan_comp_type comp_type, int partial_flag);
void darshan_log_close(darshan_fd file);

/* Puts must come as job, exe, mounts, names, modules ascending; else -1 and a message. */
int darshan_log_get_job(darshan_fd fd, struct darshan_job *job);
int darshan_log_put_job(darshan_fd fd, struct darshan_job *job);
int darshan_log_get_exe(darshan_fd fd, char *buf); /* buf: DARSHAN_EXE_LEN + 1 bytes */
int darshan_log_put_exe(darshan_fd fd, char *buf);
int darshan_log_get_mounts(darshan_fd fd, struct darshan_mnt_info **mnt_data_array, int *count);
int darshan_log_put_mounts(darshan_fd fd, struct darshan_mnt_info *mnt_data_array, int count);
int darshan_log_get_namehash(darshan_fd fd, struct darshan_name_record_ref **hash);
int darshan_log_get_filtered_namehash(darshan_fd fd, struct darshan_name_record_ref **hash,
				      darshan_record_id *whitelist, int whitelist_count);
int darshan_log_put_namehash(darshan_fd fd, struct darshan_name_record_ref *hash);
/* Reads inflated bytes of a module, byte order of the file. Returns their number or -1. Fewer than mod_buf_sz: the
 * end; the next call starts over. */
int darshan_log_get_mod(darshan_fd fd, darshan_module_id mod_id, void *mod_buf, int mod_buf_sz);
int darshan_log_put_mod(darshan_fd fd, darshan_module_id mod_id, void *mod_buf, int mod_buf_sz, int ver);

void darshan_log_print_version_warnings(const char *version_string);
char *darshan_log_get_lib_version(void);
int darshan_log_get_job_runtime(darshan_fd fd, struct darshan_job job, double *runtime);
void darshan_log_get_modules(darshan_fd fd, struct darshan_mod_info **mods, int *count);
void darshan_log_get_name_records(darshan_fd fd, struct darshan_name_record_info **mods, int *count);
void darshan_log_get_filtered_name_records(darshan_fd fd, struct darshan_name_record_info **mods, int *count,
					   darshan_record_id *whitelist, int whitelist_count);
int darshan_log_get_record(darshan_fd fd, int mod_idx, void **buf);
void darshan_free(void *ptr);

/*
 * A record of extended tracing as darshan-dxt-parser prints it. rec_ref: the
 * file's layout on Lustre, or NULL. Darshan's main line takes fd->mod_ver, too.
 */
#if DARSHAN_DXT_THREADS
#define DARSHAN_DXT_VERSIONS , uint32_t *mod_ver
#else
#define DARSHAN_DXT_VERSIONS
#endif
void dxt_log_print_posix_file(void *file_rec, char *file_name, char *mnt_pt, char *fs_type,
			      struct lustre_record_ref *rec_ref DARSHAN_DXT_VERSIONS);
void dxt_log_print_mpiio_file(void *file_rec, char *file_name, char *mnt_pt,
			      char *fs_type DARSHAN_DXT_VERSIONS);

struct darshan_accumulator_st;
typedef struct darshan_accumulator_st *darshan_accumulator;

struct darshan_file_category_counters {
	int64_t count;
	int64_t total_read_volume_bytes, total_write_volume_bytes;
	int64_t max_read_volume_bytes, max_write_volume_bytes; /* of one file */
	int64_t total_max_offset_bytes, max_offset_bytes;      /* -1: unknown */
	int64_t nprocs;                                        /* -1: all */
};

enum darshan_file_category {
	DARSHAN_ALL_FILES = 0,
	DARSHAN_RO_FILES,
	DARSHAN_WO_FILES,
	DARSHAN_RW_FILES,
	DARSHAN_UNIQ_FILES,
	DARSHAN_SHARED_FILES,
	DARSHAN_PART_SHARED_FILES,
	DARSHAN_FILE_CATEGORY_MAX
};

struct darshan_derived_metrics {
	int64_t total_bytes;
	double unique_io_total_time_by_slowest, unique_rw_only_time_by_slowest, unique_md_only_time_by_slowest;
	int unique_io_slowest_rank;
	double shared_io_total_time_by_slowest;
	double agg_perf_by_slowest; /* MiB a second */
	double agg_time_by_slowest; /* seconds */
	struct darshan_file_category_counters category_counters[DARSHAN_FILE_CATEGORY_MAX];
};

int darshan_accumulator_create(darshan_module_id id, int64_t job_nprocs, darshan_accumulator *new_accumulator);
int darshan_accumulator_inject(darshan_accumulator accumulator, void *record_array, int record_count);
int darshan_accumulator_emit(darshan_accumulator accumulator, struct darshan_derived_metrics *metrics,
			     void *aggregation_record);
int darshan_accumulator_destroy(darshan_accumulator accumulator);

#ifdef __cplusplus
}
#endif

#endif
