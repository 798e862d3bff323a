/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_RECORDS_POSIX_FINISH_H
#define LOGFMT_RECORDS_POSIX_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/counters/records.h"
#include "logfmt/rules/posix_shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Distinct values with counts. A shard brings at most 32, but any number of processes can be joined: beyond
 * SCRIBE_MAP_MOST new values are only counted as dropped.
 */
#define SCRIBE_MAP_OWN  4
#define SCRIBE_MAP_MOST 256
struct scribe_value_map {
	uint32_t used, capacity; /* capacity 0: entries are in `own` */
	uint64_t dropped;        /* operations with a value in neither table nor map */
	struct scribe_value own[SCRIBE_MAP_OWN];
	struct scribe_value *more;
};

/* Zeros: empty. Must not be copied by assignment after use. */
struct scribe_posix_acc {
	struct scribe_posix_shard sum; /* without its values */
	struct scribe_ext_shard ext;
	uint64_t cache[SCRIBE_CACHE_ALL];
	bool faults_lost; /* not all page faults were counted */
	struct scribe_value_map access, stride;
};

void scribe_posix_acc_init(struct scribe_posix_acc *acc);
void scribe_posix_acc_free(struct scribe_posix_acc *acc);

/* Tables may be NULL. -ENOMEM: values may be partly added, sums are not. */
int scribe_posix_acc_add(struct scribe_posix_acc *acc, const struct scribe_posix_shard *shard,
			 const struct scribe_value_table *access, const struct scribe_value_table *stride);
int scribe_posix_acc_add_ext(struct scribe_posix_acc *acc, const struct scribe_ext_shard *ext);
void scribe_posix_acc_add_cache(struct scribe_posix_acc *acc, const uint64_t often[SCRIBE_CACHE_OFTEN],
				const uint64_t seldom[SCRIBE_CACHE_ALL - SCRIBE_CACHE_OFTEN]);
/* Does not change `other`. */
int scribe_posix_acc_join(struct scribe_posix_acc *acc, const struct scribe_posix_acc *other);

/*
 * The POSIX record with times in seconds from `base_mono_ns`, the job's start (0: never; before the start: just after
 * it). mode: of the last open with a mode; align, mem_align: bytes; renamed_from: record id of the first rename's
 * source, or 0.
 */
void scribe_posix_acc_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank, uint64_t base_mono_ns,
			     int64_t mode, int64_t align, int64_t mem_align, uint64_t renamed_from,
			     struct scribe_posix_record *ret_rec);
/* 0: all counters are 0, the record is not needed. */
int scribe_posix_acc_ext_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
				struct scribe_posix_ext_record *ret_rec);

/*
 * `known`: bits of counters that the kernel shows (struct scribe_ctl, `cache`); the others are -1, as are those that
 * this file's calls hide. 0: the record is not needed.
 */
int scribe_posix_acc_cache_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank, uint32_t known,
				  struct scribe_cache_record *ret_rec);

/* In any order; false: past the end. Entries with count 0 are empty. */
bool scribe_value_map_at(const struct scribe_value_map *map, uint32_t i, struct scribe_value *ret_value);
/* The n most common values, by count, then value, descending; unused ones are zero. */
void scribe_value_map_top(const struct scribe_value_map *map, struct scribe_value *ret_top, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
