/* SPDX-License-Identifier: BSD-3-Clause */
/* A traced job. */
#ifndef RUNTIME_DAEMON_STATE_JOB_H
#define RUNTIME_DAEMON_STATE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/user/load.h"
#include "logfmt/base/proto.h"
#include "runtime/daemon/base/journal_file.h"
#include "runtime/daemon/config/config.h"
#include "runtime/daemon/model/access_patterns.h"
#include "runtime/daemon/model/mount_table.h"
#include "runtime/daemon/model/mpi_worlds.h"
#include "runtime/daemon/model/name_table.h"
#include "runtime/daemon/model/path_resolve.h"
#include "runtime/daemon/model/record_set.h"
#include "runtime/daemon/privsep/helper.h"

struct scribe_job_spec {
	char id[128];          /* empty: not of a scheduler */
	char cgroup[4096];     /* absolute path below the cgroup file system */
	char match_env[256];   /* NAME=VALUE in the environment of its processes */
	uint32_t ancestor_pid; /* process id of a common ancestor; 0: any */
	uint32_t pid;          /* process to enrol at start; 0: none */
	char node[64];         /* empty: the host's */
	uint32_t nodes;        /* 0: not known */
	uint32_t attempt;      /* earlier starts */
	uint32_t deadline_s;
	bool last_node; /* END: the other nodes have ended, or never will */
};

enum scribe_path_lookup_state {
	SCRIBE_LOOKUP_NONE,
	SCRIBE_LOOKUP_ASKED,
	SCRIBE_LOOKUP_ANSWERED,
	SCRIBE_LOOKUP_GIVEN_UP,
};

/* Per job; initially zero. */
struct scribe_path_lookup {
	bool has_helper;
	bool quiet; /* do not use helpers */
	struct scribe_helper helper;
	unsigned lost;    /* helpers that did not answer */
	uint64_t next_ns; /* earliest next request */
	enum scribe_path_lookup_state state;
	uint64_t seen_ns, waited_ns;
	struct scribe_helper_path answer;
	bool text; /* about a process, not a path */
	struct scribe_path_walk walk;
};

struct scribe_held_event; /* held_events.h */
/* In order; the name of the first is being looked up. Initially zero. */
struct scribe_held_events {
	struct scribe_held_event *first, *last;
	size_t bytes;
};

struct scribe_exclusion_query;
struct scribe_folder_load; /* tables/folder_load.h */
/* Per job; initially zero. */
struct scribe_exclusion_check {
	bool has_helper;
	struct scribe_helper helper;
	unsigned version;                            /* of the rules that the helper has */
	struct scribe_exclusion_query *first, *last; /* in order; the first are sent */
	unsigned sent;
	uint64_t asked, answered;
	unsigned lost; /* failed helpers; checks stop at SCRIBE_EXCLUSION_CHECKS_MAX */
	uint64_t given_up;
	bool ended; /* ended processes do not wait any more */
	struct scribe_process *ends, *ends_last;
};

enum scribe_job_state {
	SCRIBE_JOB_RUNNING,
	SCRIBE_JOB_ENDING,     /* END received; waits for the last processes */
	SCRIBE_JOB_CLOSED,     /* drains what exists */
	SCRIBE_JOB_FINALIZING, /* logs are being written */
	SCRIBE_JOB_TELLING,    /* notifies other nodes */
	SCRIBE_JOB_OVER,       /* not recorded any more */
};

/* What a log may lack, besides what the kernel's ledger counts. */
struct scribe_job_losses {
	uint64_t misses_before;    /* skipped runs of our programs when the job started */
	uint64_t memory;           /* failed allocations */
	uint64_t names;            /* records without a name */
	uint64_t names_unresolved; /* links not followed: no answer in time */
	uint64_t files_overflowed; /* files that share a record */
	uint64_t overflowed_late;  /* their operations, which the kernel counts as recorded */
	uint64_t excluded_late;    /* operations recorded before the exclusion was known */
	uint64_t rings;            /* operations lost because a program's ring was full */
	uint64_t untimed;          /* calls counted without reading the clock */
	uint64_t heat;             /* shards without memory for a table */
	uint64_t heat_wide_ns;     /* longest bin without a table */
	uint64_t events_seen;      /* EVENT_LOST + ENV_LOST at the last sweep */
};

enum scribe_budget_step { SCRIBE_BUDGET_OPERATIONS, SCRIBE_BUDGET_ALL, SCRIBE_BUDGET_STEPS };

/* operations/budget.h */
struct scribe_budget {
	uint64_t next_ns;                       /* next comparison */
	double cpu, tracing;                    /* at the last one */
	uint64_t ended_ns[SCRIBE_BUDGET_STEPS]; /* since when these are not recorded; 0: they are */
};

/* `ioscribe run`, and the command that it started. */
struct scribe_job_client {
	uint32_t first_proc_id; /* of CMD */
	int32_t pid;
	uint64_t ticks; /* its start time */
	bool resumed;   /* RUN_REATTACH is expected */
};

/* Ends when its log is written; freed when its last process has ended. */
struct scribe_job {
	struct scribe_daemon *daemon;
	struct scribe_job *next;
	uint32_t index;
	struct scribe_job_spec spec;
	struct scribe_config config;
	struct scribe_helper helper;
	struct scribe_path_lookup path_lookup;
	struct scribe_held_events held;
	struct scribe_exclusion_check exclusion;
	struct scribe_worlds worlds;
	struct scribe_name_table names;
	struct scribe_link_table links;
	struct scribe_access_patterns patterns;
	struct scribe_mounts mounts;
	struct scribe_segments *segments; /* NULL: single operations are not recorded */
	struct scribe_windows *windows;   /* NULL: never opened */
	struct scribe_publish *publish;   /* NULL: no subscription */
	bool publishing;
	struct scribe_file_xattrs *file_xattrs;
	struct scribe_folder_load *folder_load; /* NULL: no look yet */
	char host[64];
	int64_t realtime_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, constant */
	uint64_t begun_ns;
	struct scribe_job_client client;
	int64_t log_job_id; /* process id of CMD without a scheduler's id */
	uint32_t nlogs;
	struct scribe_msg_log *log;
	size_t logs, logs_capacity;
	uint64_t drain_ns;
	struct scribe_job_losses losses;
	struct scribe_budget budget;
	uint32_t cache_known; /* bits of struct scribe_ctl, `cache` */
	uint64_t files;       /* records at the last count and names (scribe_job_files) */
	uint64_t files_seen;  /* when the quota was last compared */
	uint64_t records;     /* at the last count */
	bool files_full;      /* quota used up: further names overflow */
	bool records_full;    /* the same of records, of which one name may have many */
	enum scribe_job_state state;
	bool has_env_settings;                         /* a process had settings in its environment (job_env.h) */
	struct scribe_process *leaving, *leaving_last; /* ended, being drained; linked by next_end */
	uint64_t closed_ns;                            /* 0: open */
	uint64_t closed_at;                            /* end of the event ring then */
	struct scribe_delivery *deliveries;
	bool begun_reported; /* other nodes are notified of a part here */
	uint64_t ending_deadline_ns;
	uint32_t records_most, processes_most; /* reduced while the user has other jobs */
	struct scribe_journal journal;         /* closed: the job does not survive this daemon */
};

/* All reads and writes are recorded one by one. */
static inline bool scribe_job_has_dxt(const struct scribe_job *job)
{
	return job->segments && !job->budget.ended_ns[SCRIBE_BUDGET_OPERATIONS];
}

#define SCRIBE_NAME_BYTES_A_FILE 256u /* so many bytes of names count as a file */

/* In memory, not open: records, or names if more, because each may get a record. */
static inline uint64_t scribe_job_files(const struct scribe_job *job)
{
	uint64_t files = job->names.bytes / SCRIBE_NAME_BYTES_A_FILE;

	files = files > job->records ? files : job->records;
	return files > job->names.by_id.used ? files : job->names.by_id.used;
}

#endif
