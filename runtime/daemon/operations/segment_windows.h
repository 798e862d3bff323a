/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on a running job: its segments of some seconds. A window opens when all records of the job send segments
 * (some 50 ms after the first request); an operation belongs to each window in which it starts.
 */
#ifndef RUNTIME_DAEMON_OPERATIONS_SEGMENT_WINDOWS_H
#define RUNTIME_DAEMON_OPERATIONS_SEGMENT_WINDOWS_H

#include "logfmt/file/writer.h"
#include "runtime/daemon/state/receivers.h"

#define SCRIBE_WINDOWS_MOST         8u       /* per job */
#define SCRIBE_WINDOW_SEGMENTS_MOST 2097152u /* more are lost; 64 MiB in the log */
#define SCRIBE_WINDOW_MS_MOST       3600000u
#define SCRIBE_WINDOW_LINGER_NS     100000000ull /* for operations in progress at its end */

struct scribe_window;

/* Of a closed window. */
struct scribe_window_sums {
	uint64_t begin_ns, end_ns;   /* CLOCK_MONOTONIC, end excluded */
	struct scribe_ledger ledger; /* segments only */
	uint64_t partial;            /* bits of incomplete modules */
};

/* -EDQUOT: too many. */
int scribe_windows_open(struct scribe_job *job, uint64_t client, uint32_t ms, struct scribe_err *err);
/* Of this connection; 0: all. Returns the number. */
unsigned scribe_windows_stop(struct scribe_job *job, uint64_t client);
/* Open ones. */
unsigned scribe_windows_count(const struct scribe_job *job);
/* Frees it: the client has gone. */
void scribe_windows_drop(struct scribe_job *job, uint64_t client);

/* Memory file with some segments; -1: none. */
int scribe_window_file(const struct scribe_window *x);
/* The next closed one and its client, or NULL. */
struct scribe_window *scribe_windows_closed(struct scribe_job *job, uint64_t *ret_client);
struct scribe_window_sums scribe_window_sums(const struct scribe_window *x);
/* As scribe_segments_names and _write. */
int scribe_window_names(const struct scribe_window *x, int (*fn)(void *ctx, uint64_t id), void *ctx);
int scribe_window_write(const struct scribe_job *job, const struct scribe_window *x, uint64_t base_ns,
			struct scribe_writer *wr);
/* Appends lines of metadata on windows in this time, as many as fit. */
void scribe_windows_describe(const struct scribe_job *job, uint64_t base_ns, uint64_t end_ns, char *text, size_t cap);

extern const struct scribe_receiver scribe_receiver_windows;

/* Is one not open yet? */
bool scribe_windows_wait(const struct scribe_job *job);
void scribe_windows_begin_due(struct scribe_job *job);
/* Has one reached its end? `end`: all have. */
bool scribe_windows_end_due(struct scribe_job *job, bool end);
/* They have all segments. */
void scribe_windows_close(struct scribe_job *job);
/* Windows of an earlier daemon do not exist any more: stops their segments. */
void scribe_windows_lost(struct scribe_job *job);

#endif
