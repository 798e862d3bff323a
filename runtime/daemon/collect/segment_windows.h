/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on a job that runs: its segments of some seconds, for whoever has asked for them.
 * A window begins when all records of the job leave segments, which takes some 50 ms from the
 * first one's opening; an operation belongs to each window in which it starts. Windows may
 * overlap. What is kept of a window when it has gone is a line for the job's own logs.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SEGMENT_WINDOWS_H
#define RUNTIME_DAEMON_COLLECT_SEGMENT_WINDOWS_H

#include "logfmt/file/writer.h"
#include "runtime/daemon/state/daemon.h"

#define SCRIBE_WINDOWS_MOST         8u       /* on one job at once */
#define SCRIBE_WINDOW_SEGMENTS_MOST 2097152u /* further ones are counted as lost; 64 MiB in the log */
#define SCRIBE_WINDOW_MS_MOST       3600000u
#define SCRIBE_WINDOW_LINGER_NS     100000000ull /* for operations that it ends in the middle of */

struct scribe_window; /* one that is not gone */

/* What a closed one says. */
struct scribe_window_sums {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; the end does not belong to it */
	struct scribe_ledger ledger; /* counters of segments, of these alone */
	uint64_t partial; /* bits of modules of which something is missing */
};

/* On `w`, for the connection of this id. -EDQUOT: there are too many; -ENOMEM, or the kernel's. */
int scribe_windows_open(struct scribe_job *job, uint64_t client, uint32_t ms, struct scribe_err *err);
/* The one of this connection, 0: all of the job, end now. How many. */
unsigned scribe_windows_stop(struct scribe_job *job, uint64_t client);
/* How many have begun and are not over. */
unsigned scribe_windows_count(const struct scribe_job *job);
/* Nobody waits for it any more. */
void scribe_windows_drop(struct scribe_job *job, uint64_t client);

/* The file that some of its segments stand in, for whoever writes them; -1 none. */
int scribe_window_file(const struct scribe_window *x);
/* The next one that is closed, and who is told; NULL: there is none. */
struct scribe_window *scribe_windows_closed(struct scribe_job *job, uint64_t *ret_client);
struct scribe_window_sums scribe_window_sums(const struct scribe_window *x);
/* As scribe_segments_names, scribe_segments_write of a closed one. */
int scribe_window_names(const struct scribe_window *x, int (*fn)(void *ctx, uint64_t id), void *ctx);
int scribe_window_write(const struct scribe_job *job, const struct scribe_window *x, uint64_t base_ns,
			struct scribe_writer *wr);
/* Lines of the metadata of a log of base_ns to end_ns: the windows that fell into it. As many as fit. */
void scribe_windows_describe(const struct scribe_job *job, uint64_t base_ns, uint64_t end_ns, char *text, size_t cap);

/* ---- for segment_jobs.c ---- */

void scribe_windows_keep(struct scribe_job *job, const struct scribe_segment *from, uint64_t thread);
void scribe_windows_bind(struct scribe_process *p, const struct scribe_slot_view *v, uint64_t id);
/* Is there one that has not begun? */
bool scribe_windows_wait(const struct scribe_job *job);
void scribe_windows_begin_due(struct scribe_job *job);
/* Is there one whose time is over? `end`: it is for all of them. */
bool scribe_windows_end_due(struct scribe_job *job, bool end);
/* Those have all of their segments now. */
void scribe_windows_close(struct scribe_job *job);
/* Those of an earlier daemon are gone: nobody wants the segments any more. */
void scribe_windows_lost(struct scribe_job *job);
void scribe_windows_end(struct scribe_job *job);

#endif
