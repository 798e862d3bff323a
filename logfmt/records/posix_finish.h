/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what the kernel kept of a file to records of the log: add up the shards
 * of one or many processes and names, then make the POSIX and POSIX_EXT record.
 */
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
 * Distinct values with counts; grows beyond its own places when it must. What a process does to a file
 * brings at most 32 a shard, as Darshan's record has; but any number of processes may come together in one
 * record, so there is a bound: values that are new beyond it are not followed.
 */
#define SCRIBE_MAP_OWN	4
#define SCRIBE_MAP_MOST 256
struct scribe_value_map {
	uint32_t used, room; /* room 0: the places in `own` */
	uint64_t dropped;    /* operations whose value no table held, or was one too many here */
	struct scribe_value own[SCRIBE_MAP_OWN];
	struct scribe_value *more;
};

/* All zero is a valid empty one. About 850 bytes; never copied by assignment once used. */
struct scribe_posix_acc {
	struct scribe_posix_shard sum; /* its own value places stay unused */
	struct scribe_ext_shard ext;
	struct scribe_value_map access, stride;
};

void scribe_posix_acc_init(struct scribe_posix_acc *acc);
/* Gives back what it holds and leaves it empty. NULL allowed. */
void scribe_posix_acc_free(struct scribe_posix_acc *acc);

/*
 * Add one shard with its tables of further values (NULL: none). 0 or -ENOMEM
 * (then the shard's values may be half counted; its sums are all or nothing).
 */
int scribe_posix_acc_add(struct scribe_posix_acc *acc, const struct scribe_posix_shard *shard,
			 const struct scribe_value_table *access, const struct scribe_value_table *stride);
int scribe_posix_acc_add_ext(struct scribe_posix_acc *acc, const struct scribe_ext_shard *ext);
/* Add all of `other`, which stays as it is. 0 or -ENOMEM. */
int scribe_posix_acc_join(struct scribe_posix_acc *acc, const struct scribe_posix_acc *other);

/*
 * The POSIX record: nanoseconds of CLOCK_MONOTONIC become seconds from
 * `base_mono_ns` (the job's start on that clock; what never happened stays 0,
 * what happened before the base counts as just after it; all on the grid of grid.h), the four
 * most common sizes and strides by count, then value, descending.
 * POSIX_FILENOS is -1: fileno makes no system call. `mode`: mode argument of
 * the last open that had one, `align`, `mem_align`: alignments in bytes;
 * `renamed_from`: record id of the first rename's source, 0 none.
 */
void scribe_posix_acc_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
			     uint64_t base_mono_ns, int64_t mode, int64_t align, int64_t mem_align,
			     uint64_t renamed_from, struct scribe_posix_record *ret_rec);
/* The POSIX_EXT record. Returns 1 when it has anything to say, else 0 (leave it out). */
int scribe_posix_acc_ext_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
				struct scribe_posix_ext_record *ret_rec);

/* Value `i` of a map in no order, false when there are no more; counts of 0 are empty places. */
bool scribe_value_map_at(const struct scribe_value_map *map, uint32_t i, struct scribe_value *ret_value);
/* The n most common values of a map, by count, then value, descending; the rest of ret is zeroed. */
void scribe_value_map_top(const struct scribe_value_map *map, struct scribe_value *ret_top, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
