/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of jobs that are traced operation by operation (DXT): taken from the
 * kernel, kept by the slot that they were counted on, given to a rank and a file when
 * that slot is drained, written when the log is made. Where no job asks for them every
 * call here does nothing.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SEGMENTS_H
#define RUNTIME_DAEMON_COLLECT_SEGMENTS_H

#include "logfmt/records/hashmap.h"
#include "logfmt/file/writer.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/segments/segment_store.h"

/* A job begins; the kernel has memory for its segments from now on. */
int scribe_segments_begin(struct scribe_job *job, struct scribe_err *err);
/* Nothing of the job is kept any more. */
void scribe_segments_end(struct scribe_job *job);
/* Take what threads have left; `all`: and what living ones have written so far. */
void scribe_segments_take(struct scribe_daemon *d, bool all);

/* Windows on the job (segment_windows.h) begin and end by their time; `end`: all of them end now. */
void scribe_segments_tick(struct scribe_job *job, bool end);

/* Once a turn of the loop: operations of jobs that are published go on their way (publish.h). */
void scribe_segments_publish(struct scribe_daemon *d);
/* What has been taken, at once: before a log of the job says how many there were. */
void scribe_segments_publish_now(struct scribe_job *job);
/* Nothing more comes of the job: its last operations, too. */
void scribe_segments_publish_rest(struct scribe_job *job);

/* The slot is a record of this rank, by this id; 0: what was counted on it counts nowhere. */
void scribe_segments_bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id);

/*
 * The unit is over: of each rank's files those stay that the job's triggers keep, by the counters
 * of the rank's POSIX record. The ledger counts what stays.
 */
void scribe_segments_filter(struct scribe_job *job, const struct scribe_log_unit *u);

/* Ids that the unit's segments speak of, to `fn`; ends at a negative code, which is returned. */
int scribe_segments_names(const struct scribe_log_unit *u, int (*fn)(void *ctx, uint64_t id), void *ctx);
/*
 * The unit's records of the modules DXT_POSIX and DXT_MPIIO, in the order of ranks, times from base_ns
 * on. Negative: what was kept cannot be read, or the writer has failed.
 */
int scribe_segments_write(const struct scribe_job *job, const struct scribe_log_unit *u, uint64_t base_ns,
			  struct scribe_writer *wr);
/* Was that why nothing could be written? */
bool scribe_segments_broken(const struct scribe_job *job);
/* The file that some of the job's stand in, for whoever writes them; -1 none. */
int scribe_segments_file(const struct scribe_job *job);
/* The rank's are in a log, or nobody wants them. */
void scribe_segments_forget(struct scribe_rank *r);
/* The ledger's counters, and the bits of modules of which something is missing. */
uint64_t scribe_segments_ledger(const struct scribe_job *job, struct scribe_ledger *ledger);

#endif
