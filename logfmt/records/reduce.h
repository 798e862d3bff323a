/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining records: over the ranks of an MPI world (a shared record, rank -1),
 * and over processes or hard names of one rank. One rule table (the counter
 * lists) for the runtime's reduction, the daemon and merge.
 */
#ifndef LOGFMT_RECORDS_REDUCE_H
#define LOGFMT_RECORDS_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_log_job; /* records.h, as the next */
struct scribe_mdhim_record;

/*
 * Reduction over ranks: begin makes an element of one rank's record, join adds
 * another element (in any order and grouping: associative and commutative, as
 * an MPI user operation on scribe_redux_bytes(module) opaque bytes), end makes
 * the shared record: rank -1, fastest and slowest rank with their bytes and
 * time (read + write + meta; of equal ones the lowest rank), population
 * variances over ranks (Chan's pairwise formula). Elements hold no pointers.
 * Sums, extremes and ranks are exact; the most common values are exact while
 * all ranks together have at most SCRIBE_REDUX_VALUES distinct ones, beyond
 * that the less frequent ones of a join are lost.
 */
#define SCRIBE_REDUX_VALUES 16
#define SCRIBE_REDUX_MDHIM_SERVERS 256 /* servers of an MDHIM record that can be reduced */

/* Bytes of an element, a multiple of 8; 0 when the module is not reduced. */
size_t scribe_redux_bytes(int module);
/*
 * 0, or -SCRIBE_E_UNSUPPORTED for a module that is not reduced, -SCRIBE_E_LIMIT
 * for an MDHIM record with too many servers; APMPI's head is refused as not
 * reduced. A record that is shared already
 * (rank -1) enters with its own fastest and slowest rank and counts as one in
 * the variance.
 */
int scribe_redux_begin(int module, const void *rank_record, void *ret_elem);
int scribe_redux_join(int module, void *elem, const void *other);
int scribe_redux_end(int module, const void *elem, void *ret_record);
/* Bytes of the largest record that begin takes and end gives; 0 when the module is not reduced. */
size_t scribe_redux_record_bytes(int module);
/*
 * Population variances over the ranks joined so far, as end would store them:
 * of the time (seconds squared) and of the bytes (squared); for APMPI, whose
 * head holds them instead, of the time in MPI calls and in synchronisation.
 * 0 or -SCRIBE_E_UNSUPPORTED.
 */
int scribe_redux_variances(int module, const void *elem, double ret_variances[2]);

/*
 * Add `other` to `rec`: two records of one file and one rank. Keeps rec's id
 * and rank; fastest, slowest and variance stay 0 unless both are shared
 * records, when the faster and the slower are kept. `rec` has room for
 * scribe_redux_record_bytes(module): an MDHIM record takes the larger number of
 * servers. -SCRIBE_E_UNSUPPORTED for modules of variable size but MDHIM and
 * APMPI, and for APMPI's head; -SCRIBE_E_LIMIT for too many MDHIM servers.
 */
int scribe_record_merge(int module, void *rec, const void *other);

/*
 * The same for MDHIM records of any number of servers: `rec` has room for the
 * longer one. Beginning with one rank's record it is the reduction too, for no
 * counter of the module is a rank's own; the caller sets the rank.
 */
void scribe_mdhim_merge(struct scribe_mdhim_record *rec, const struct scribe_mdhim_record *other);

/* Did `a` begin before `b`? */
bool scribe_job_earlier(const struct scribe_log_job *a, const struct scribe_log_job *b);
/* `job` becomes that of both: from the first begin to the last end, with the larger number of processes. */
void scribe_job_merge(struct scribe_log_job *job, const struct scribe_log_job *other);

/* A record with nothing in it: what merge leaves unchanged. Fixed-size modules. */
int scribe_record_clear(int module, void *ret_rec);

#ifdef __cplusplus
}
#endif

#endif
