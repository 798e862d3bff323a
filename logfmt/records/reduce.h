/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins records over ranks (a shared record, rank -1), and over processes or names of one rank, by the counters'
 * rules.
 */
#ifndef LOGFMT_RECORDS_REDUCE_H
#define LOGFMT_RECORDS_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_log_job; /* records.h */
struct scribe_mdhim_record;

/*
 * Reduction over ranks: begin makes an element of a rank's record, join adds another one (associative and
 * commutative; scribe_reduction_bytes(module) bytes without pointers), end makes the shared record. Of equal ranks the
 * lowest counts. Common values are exact up to SCRIBE_REDUCTION_VALUES distinct ones over all ranks; then rarer ones of
 * a join are lost.
 */
#define SCRIBE_REDUCTION_VALUES        16
#define SCRIBE_REDUCTION_MDHIM_SERVERS 256 /* limit for reduction */

/* A multiple of 8; 0: the module is not reduced. */
size_t scribe_reduction_bytes(int module);
/*
 * -SCRIBE_E_UNSUPPORTED: not reduced, also APMPI's header. -SCRIBE_E_LIMIT: too many MDHIM servers. A shared record
 * keeps its fastest and slowest rank and counts as one in the variance.
 */
int scribe_reduction_begin(int module, const void *rank_record, void *ret_elem);
int scribe_reduction_join(int module, void *elem, const void *other);
int scribe_reduction_end(int module, const void *elem, void *ret_record);
/* Of the largest record; 0: the module is not reduced. */
size_t scribe_reduction_record_bytes(int module);
/*
 * Population variances over the ranks joined so far, of time (s^2) and bytes (squared); APMPI: of times in MPI calls
 * and in synchronisation, which are in its header. 0 or -SCRIBE_E_UNSUPPORTED.
 */
int scribe_reduction_variances(int module, const void *elem, double ret_variances[2]);

/*
 * Adds `other` to `rec`, which has scribe_reduction_record_bytes(module) and keeps id and rank. Variances become 0;
 * fastest and slowest rank too, unless both are shared. -SCRIBE_E_UNSUPPORTED: variable size (except MDHIM, APMPI),
 * APMPI's header; -SCRIBE_E_LIMIT: too many MDHIM servers.
 */
int scribe_record_merge(int module, void *rec, const void *other);

/*
 * For any number of servers; `rec` has the capacity of the longer record. Also the reduction, because none of the
 * module's counters belongs to a rank; the caller sets the rank.
 */
void scribe_mdhim_merge(struct scribe_mdhim_record *rec, const struct scribe_mdhim_record *other);

bool scribe_job_earlier(const struct scribe_log_job *a, const struct scribe_log_job *b);
/* From the first start to the last end, with the larger number of processes. */
void scribe_job_merge(struct scribe_log_job *job, const struct scribe_log_job *other);

/* Zero: merging it changes nothing. Only fixed-size modules. */
int scribe_record_clear(int module, void *ret_rec);

#ifdef __cplusplus
}
#endif

#endif
