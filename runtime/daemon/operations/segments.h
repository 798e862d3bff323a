/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments (DXT): taken from the kernel, kept per slot, assigned to rank and file when the slot is drained. Without a
 * job that needs them every function returns at once.
 */
#ifndef RUNTIME_DAEMON_OPERATIONS_SEGMENTS_H
#define RUNTIME_DAEMON_OPERATIONS_SEGMENTS_H

#include "logfmt/file/writer.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/segments/segment_store.h"
#include "runtime/daemon/state/daemon.h"

int scribe_segments_begin(struct scribe_job *job, struct scribe_err *err);
/* `all`: also buffers that are not full. */
void scribe_segments_take(struct scribe_daemon *d, bool all);

/* The job's DXT ends early; what is kept stays. False: others still want its segments, nothing ends. */
bool scribe_segments_stop(struct scribe_job *job);

/* Opens and closes due windows; `end`: closes all. */
void scribe_segments_tick(struct scribe_job *job, bool end);

void scribe_segments_publish(struct scribe_daemon *d);
/* Before a log reports how many operations were published. */
void scribe_segments_publish_now(struct scribe_job *job);
/* After the job's end. */
void scribe_segments_publish_rest(struct scribe_job *job);

/* Drops files that the job's triggers exclude, and counts the rest in the ledger. */
void scribe_segments_filter(struct scribe_job *job, const struct scribe_log_unit *u);

/* Stops at a negative code and returns it. */
int scribe_segments_names(const struct scribe_log_unit *u, int (*fn)(void *ctx, uint64_t id), void *ctx);
/* Records of DXT_POSIX and DXT_MPIIO. Negative: unreadable, or not written. */
int scribe_segments_write(const struct scribe_job *job, const struct scribe_log_unit *u, uint64_t base_ns,
			  struct scribe_writer *wr);
bool scribe_segments_broken(const struct scribe_job *job);
/* Memory file with some of the segments; -1: none. */
int scribe_segments_file(const struct scribe_job *job);
void scribe_segments_forget(struct scribe_rank *r);
/* Returns bits of incomplete modules. */
uint64_t scribe_segments_ledger(const struct scribe_job *job, struct scribe_ledger *ledger);

#endif
