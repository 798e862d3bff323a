/* SPDX-License-Identifier: BSD-3-Clause */
/* A log in short: job, time, findings, modules, access sizes, busiest files, processes, losses. */
#ifndef UTIL_CMD_SUMMARY_SUMMARY_H
#define UTIL_CMD_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"
#include "util/advice/findings.h"
#include "util/logs/accum.h"
#include "util/logs/logfile.h"
#include "util/logs/phases.h"
#include "util/text/outbuf.h"

#define SCRIBE_SUMMARY_MODULES       5
#define SCRIBE_SUMMARY_LIBRARIES     3
#define SCRIBE_SUMMARY_SIGNALS       65
#define SCRIBE_SUMMARY_FILES         20
#define SCRIBE_SUMMARY_ENDS          20
#define SCRIBE_SUMMARY_COLUMNS       48
#define SCRIBE_SUMMARY_MOUNTS        8
#define SCRIBE_SUMMARY_CHANGES       64
#define SCRIBE_SUMMARY_CHANGED_FILES 10

struct scribe_summary_module {
	int module;
	int64_t records;
	int64_t opens, reads, writes;
	struct scribe_category files[SCRIBE_FILES_CATEGORIES];
	struct scribe_perf perf;
	int64_t read_sizes[SCRIBE_SIZE_BUCKETS], write_sizes[SCRIBE_SIZE_BUCKETS];
	int has_sizes;
};

struct scribe_summary_file {
	uint64_t id;
	int module;
	int64_t bytes_read, bytes_written;
	int64_t nprocs; /* -1: all ranks */
};

struct scribe_summary_end {
	int64_t rank, pid, wait_status, kind;
	char exe[64];
};

/* A library above MPI-IO. */
struct scribe_summary_library {
	const char *title, *what;
	int64_t things, reads, writes, bytes_read, bytes_written;
	double seconds; /* slowest rank in unshared records plus slowest rank of each shared one */
};

/* Where the client of a network file system keeps totals. -1: not kept. */
struct scribe_summary_mount {
	char path[256];
	const char *type;
	double bytes_read, bytes_written, seconds;             /* of this job's files there */
	int64_t shared;                                        /* nodes on which other jobs were traced, too */
	int64_t client_read, client_written, requests, errors; /* of all nodes */
	double rtt, queue;                                     /* seconds over requests */
};

/* Bytes of all ranks over time, below MPI-IO. */
struct scribe_summary_heat {
	double span; /* seconds of all columns; 0: no heatmap */
	double bytes[2][SCRIBE_SUMMARY_COLUMNS];
};

struct scribe_summary {
	struct scribe_log log;
	struct scribe_facts facts;
	struct scribe_findings findings;
	struct scribe_summary_module modules[SCRIBE_SUMMARY_MODULES];
	int nmodules;
	struct scribe_summary_library library[SCRIBE_SUMMARY_LIBRARIES];
	int nlibraries;
	int64_t mapped_files, mappings, mapped_bytes;             /* by mmap */
	struct scribe_summary_mount mount[SCRIBE_SUMMARY_MOUNTS]; /* the most requests first */
	int nmounts;
	struct scribe_phases phases, reads; /* in which all ranks wrote, and read */
	uint64_t other_modules;             /* bit i: module i, not in `modules`, has data */
	struct scribe_summary_file files[SCRIBE_SUMMARY_FILES];
	int nfiles;
	int64_t operations; /* of the log's processes */
	int64_t by_signal[SCRIBE_SUMMARY_SIGNALS];
	int64_t processes, ended_well, ended_badly, signalled, lost, running;
	struct scribe_summary_end ends[SCRIBE_SUMMARY_ENDS]; /* without exit code 0 */
	int nends;
	struct scribe_summary_heat heat;
	int has_ledger;
	int64_t ledger[SCRIBE_LEDGER_PLACES]; /* sums over hosts */
	double ledger_f[SCRIBE_LEDGER_F_PLACES];
};

int scribe_summary_read(struct scribe_summary *s, const char *path, struct scribe_err *err);
/* In `reads`, after that, because it takes all of DXT. */
int scribe_summary_find_reads(struct scribe_summary *s, struct scribe_err *err);
void scribe_summary_free(struct scribe_summary *s);

/* `bare`: name without prefix. 0: no such counter. */
int64_t scribe_summary_ledger(const struct scribe_summary *s, const char *bare);
bool scribe_summary_complete(const struct scribe_summary *s);
void scribe_summary_print_ledger_line(const struct scribe_summary *s, struct scribe_out *out);
void scribe_summary_print_ledger(const struct scribe_summary *s, struct scribe_out *out);

int scribe_summary_read_more(struct scribe_summary *s, struct scribe_err *err);
/* What the job did on each mount: after the facts. */
void scribe_summary_read_mounts(struct scribe_summary *s);
void scribe_summary_print_more(const struct scribe_summary *s, struct scribe_out *out);
void scribe_summary_print_phases(const struct scribe_summary *s, struct scribe_out *out);

int scribe_summary_read_heat(struct scribe_summary *s, struct scribe_err *err);
void scribe_summary_print_heat(const struct scribe_summary *s, struct scribe_out *out);

/* Up to `most` of them. */
void scribe_summary_print_findings(const struct scribe_summary *s, size_t most, struct scribe_out *out);
void scribe_summary_print(const struct scribe_summary *s, struct scribe_out *out, int nfiles);
/* Schema docs/summary.schema.json. */
void scribe_summary_print_json(const struct scribe_summary *s, struct scribe_out *out, int nfiles);
void scribe_summary_print_brief(const struct scribe_summary *s, struct scribe_out *out);

/* A figure of two logs. */
struct scribe_summary_change {
	char name[32];
	enum scribe_fact_unit unit;
	double a, b;
};

struct scribe_summary_file_change {
	uint64_t id;
	double a, b; /* seconds */
};

/* Up to SCRIBE_SUMMARY_CHANGES, without those that are 0 in both. */
size_t scribe_summary_changes(const struct scribe_summary *a, const struct scribe_summary *b,
			      struct scribe_summary_change *ret_changes);
/* Files whose I/O time differs most: up to SCRIBE_SUMMARY_CHANGED_FILES. */
size_t scribe_summary_file_changes(const struct scribe_summary *a, const struct scribe_summary *b,
				   struct scribe_summary_file_change *ret_most);
const char *scribe_summary_changed_name(const struct scribe_summary *a, const struct scribe_summary *b, uint64_t id);
void scribe_summary_print_compared(const struct scribe_summary *a, const struct scribe_summary *b,
				   struct scribe_out *out);

/* The brief form with indented lines, for the end of `ioscribe run`. */
int scribe_summary_brief(const char *path, FILE *to, struct scribe_err *err);

#endif
