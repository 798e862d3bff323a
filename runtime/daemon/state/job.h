/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A traced job as the daemon knows it.
 */
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

/* What a scheduler says of a job; all zero for `ioscribe run`. */
struct scribe_job_spec {
	char id[128];        /* empty: no scheduler's job */
	char cgroup[4096];   /* the job's cgroup, absolute below the cgroup file system; empty: none */
	char match_env[256]; /* NAME=VALUE that its processes have in their environment; empty: none */
	uint32_t ancestor_pid;      /* process id of whom they descend from; 0: anybody */
	uint32_t pid;        /* process to enrol at once; 0: none */
	char node[64];       /* this node's name; empty: the host's */
	uint32_t nodes;      /* of how many nodes; 0: not told */
	uint32_t attempt;    /* how often the job was started before */
	uint32_t deadline_s; /* for END, where that tells none */
	bool last_node;      /* END: the other nodes have ended theirs, or never will */
};

enum scribe_path_lookup_state {
	SCRIBE_LOOKUP_NONE,
	SCRIBE_LOOKUP_ASKED,
	SCRIBE_LOOKUP_ANSWERED,
	SCRIBE_LOOKUP_GIVEN_UP,
};

/* Of a job; begins as zeros. */
struct scribe_path_lookup {
	bool has_helper;
	bool quiet; /* nobody is asked: there is no time for it */
	struct scribe_helper helper;
	unsigned lost;    /* helpers that did not answer */
	uint64_t next_ns; /* not asked before */
	enum scribe_path_lookup_state state;
	uint64_t seen_ns, waited_ns; /* when an answer was looked for last; for how long */
	struct scribe_helper_path answer;
	bool text; /* what was asked for is of a process, no path */
	struct scribe_path_walk walk; /* of the name that is being looked up */
};

struct scribe_held_event; /* held_events.h */
/* Of a job: events behind one whose name is being looked up, in order. Begins as zeros. */
struct scribe_held_events {
	struct scribe_held_event *first, *last;
	size_t bytes;
};

struct scribe_exclusion_query;
/* Of a job; begins as zeros. */
struct scribe_exclusion_check {
	bool has_helper;
	struct scribe_helper helper;
	unsigned version;               /* of the rules that the worker knows */
	struct scribe_exclusion_query *first, *last; /* in order; the worker has the first of them */
	unsigned sent;                  /* so many */
	uint64_t asked, answered;       /* of all times */
	unsigned lost; /* workers that have failed; at SCRIBE_EXCLUSION_CHECKS_MAX nobody is asked any more */
	uint64_t given_up;              /* not judged */
	bool ended;                      /* no end waits any more */
	struct scribe_process *ends, *ends_last; /* whose records wait, in order */
};

enum scribe_job_state {
	SCRIBE_JOB_RUNNING,
	SCRIBE_JOB_ENDING,     /* END has come: its last processes are waited for */
	SCRIBE_JOB_CLOSED,     /* nothing more comes into it; what came is still being taken */
	SCRIBE_JOB_FINALIZING, /* its logs are on their way */
	SCRIBE_JOB_TELLING,    /* they are delivered; the job's other nodes hear of it */
	SCRIBE_JOB_OVER,       /* what its processes still do is not recorded */
};

/*
 * A job being traced: what `ioscribe run` asked for, or a scheduler's job. It
 * ends when its log is written; it is kept while processes of it go on (SCRIBE_JOB_OVER).
 */
struct scribe_job {
	struct scribe_daemon *daemon;
	struct scribe_job *next;
	uint32_t index; /* in the kernel's job table, and in daemon->job */
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
	struct scribe_segments *segments; /* segments.h; NULL: single operations are not kept */
	struct scribe_windows *windows;   /* segment_windows.h; NULL: there was none on it */
	struct scribe_publish *publish;   /* publish.h; NULL: nobody has subscribed */
	bool publishing;                  /* somebody gets its operations */
	struct scribe_file_xattrs *file_xattrs; /* file_xattrs.h; NULL: nobody was asked */
	char host[64];              /* the node's name */
	int64_t realtime_ns;        /* CLOCK_REALTIME - CLOCK_MONOTONIC, taken once */
	uint64_t begun_ns;
	uint32_t first_proc_id;      /* of CMD */
	int32_t client_pid;             /* `ioscribe run` that began it, 0 none */
	uint64_t client_ticks;      /* and when that was started */
	bool awaits_client;               /* it is to come back: its job is of an earlier daemon */
	int64_t log_job_id;             /* of the run, where no scheduler gives one: CMD's process id */
	uint32_t nlogs;             /* paths given out */
	struct scribe_msg_log *log; /* written, in order */
	size_t logs, logs_room;
	uint64_t drain_ns;                  /* spent collecting records */
	uint64_t misses_before;             /* runs of our programs skipped when the job began */
	uint64_t memory_out;                /* allocations that failed: something is missing */
	uint64_t names_lost;                /* records whose name has never come */
	uint64_t names_unresolved;            /* links in them not followed: no answer in time */
	uint64_t files;                     /* records and names held, as counted last (user_quota.c) */
	bool files_full;                    /* the user may have no further file: they are folded, */
	uint64_t files_folded;              /* so many, of all times, */
	uint64_t folded_late;               /* with so many operations, told as recorded by the kernel */
	uint64_t excluded_late;             /* operations recorded until a name was known to be excluded */
	uint64_t rings_lost;                /* MPI-IO operations that found no room on their way to the daemon */
	uint64_t untimed_calls;             /* that programs counted when they allowed themselves no clock */
	uint64_t heat_lost;                 /* shards whose bytes over time found no memory */
	uint64_t heat_wide_ns;              /* longest time of one bin, where no table was to be had */
	uint64_t lost_seen;                 /* ledger's EVENT_LOST + ENV_LOST at the last look */
	enum scribe_job_state state;        /* goes on, never back */
	bool has_env_settings; /* a process has brought settings in its environment (job_env.h) */
	struct scribe_process *leaving, *leaving_last; /* ended, by next_end; records of the first are being taken */
	uint64_t closed_ns;                 /* nothing more comes into it, 0: it goes on */
	uint64_t closed_at;                 /* where the event ring ended then */
	struct scribe_delivery *deliveries; /* log_deliver.c */
	bool told_begun;                    /* to the job's other nodes: that there is something */
	uint64_t ending_deadline_ns;
	uint32_t records_most, processes_most; /* at once; less where the user has other jobs, too */
	struct scribe_journal journal; /* job_journal.h; closed: the job does not survive this daemon */
};

#endif
