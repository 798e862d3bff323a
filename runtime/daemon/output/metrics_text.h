/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics as text. */
#ifndef RUNTIME_DAEMON_OUTPUT_METRICS_TEXT_H
#define RUNTIME_DAEMON_OUTPUT_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SCRIBE_JOB_METRICS(X) \
	X(READ, "read_bytes_total", "counter", "Bytes that system calls and streams have read.") \
	X(WRITTEN, "written_bytes_total", "counter", "Bytes that system calls and streams have written.") \
	X(OPERATIONS, "operations_total", "counter", "Operations of every layer.") \
	X(OPENS, "opens_total", "counter", "Opens by path.") \
	X(STATS, "stats_total", "counter", "Stat calls.") \
	X(SEEN, "seen_operations_total", "counter", \
	  "System calls seen on files that count, a thread's when it has ended.") \
	X(LOST, "lost_operations_total", "counter", "Of these, lost: no record was left.") \
	X(OVERFLOWED, "overflowed_operations_total", "counter", "Of these, in a record that stands for many files.") \
	X(FAILED, "failed_lookups_total", "counter", "Calls on paths that returned an error.") \
	X(INCOMPLETE, "incomplete", "gauge", "1: its log will not be complete.") \
	X(PROCESSES, "processes", "gauge", "Processes that are traced now.") \
	X(RECORDS, "records_used", "gauge", "Records that it holds now.") \
	X(RECORDS_LIMIT, "records_limit", "gauge", "Records that it may hold.") \
	X(STARTED, "start_time_seconds", "gauge", "When it began, since 1970.")

#define SCRIBE_DAEMON_METRICS(X) \
	X(STARTED, "daemon_start_time_seconds", "gauge", "When the daemon began, since 1970.") \
	X(CPU, "daemon_cpu_seconds_total", "counter", "Processor time of the daemon.") \
	X(ITERATIONS, "daemon_turns_total", "counter", "Turns of its loop.") \
	X(LONG_ITERATIONS, "daemon_long_turns_total", "counter", "Turns longer than 50 ms.") \
	X(LONGEST_ITERATION, "daemon_longest_turn_seconds", "gauge", "The longest turn: for so long all waited.") \
	X(CONNECTIONS, "daemon_connections", "gauge", "Connections to its socket.") \
	X(JOBS, "daemon_jobs", "gauge", "Jobs that it traces.") \
	X(JOBS_BEGUN, "daemon_jobs_begun_total", "counter", "Jobs begun.") \
	X(RING, "ring_size_bytes", "gauge", "Room of the ring of events.") \
	X(RING_USED, "ring_used_bytes", "gauge", "What waits in it.") \
	X(RING_MOST, "ring_most_used_bytes", "gauge", "The most that ever waited in it.") \
	X(RECORDS, "records_used", "gauge", "Records that jobs hold.") \
	X(RECORDS_LIMIT, "records_limit", "gauge", "Records that there may be.") \
	X(MEMORY, "kernel_memory_bytes", "gauge", "Memory of the kernel programs' tables.") \
	X(MISSES, "program_misses_total", "counter", "Runs of kernel programs that the kernel skipped.") \
	X(FAILURES, "metrics_failures_total", "counter", "Times that this file could not be written.")

enum scribe_job_metric {
#define SCRIBE_X(id, name, type, help) SCRIBE_JOB_METRIC_##id,
	SCRIBE_JOB_METRICS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_JOB_NMETRICS
};

enum scribe_daemon_metric {
#define SCRIBE_X(id, name, type, help) SCRIBE_DAEMON_METRIC_##id,
	SCRIBE_DAEMON_METRICS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_DAEMON_NMETRICS
};

struct scribe_job_metrics {
	uint64_t begun_ns; /* 0: unused entry */
	uint32_t uid;
	bool run; /* of an `ioscribe run` */
	char id[128], user[64];
	double v[SCRIBE_JOB_NMETRICS];
	double folder_part; /* of the opens and stats since the last file, below `folder`; 0: not known */
	char mount[64], folder[192];
};

/* In Prometheus' text format. */
void scribe_metrics_print(FILE *to, const double *daemon, const struct scribe_job_metrics *job, size_t jobs);

#endif
