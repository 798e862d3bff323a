/* SPDX-License-Identifier: BSD-3-Clause */
/* Journal entries: written by job_journal.c, read by recover.c. */
#ifndef RUNTIME_DAEMON_JOURNAL_ENTRIES_H
#define RUNTIME_DAEMON_JOURNAL_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "logfmt/base/hash.h"
#include "runtime/daemon/model/counter_use.h"
#include "runtime/daemon/model/rank_env.h"
#include "runtime/daemon/state/daemon.h"

enum scribe_job_journal_type {
	SCRIBE_ENTRY_BEGIN = 1, /* head, text of JOB_BEGIN or RUN_BEGIN */
	SCRIBE_ENTRY_PROCESS,
	SCRIBE_ENTRY_NAME,    /* head, path */
	SCRIBE_ENTRY_EXEC,    /* head, exe, arguments */
	SCRIBE_ENTRY_READER,  /* head, struct scribe_envreader: an incomplete environment */
	SCRIBE_ENTRY_ENV,     /* head, struct scribe_rankenv */
	SCRIBE_ENTRY_RECORD,  /* head, packed slots and tables */
	SCRIBE_ENTRY_DRAINED, /* completes the records of an ending process */
	SCRIBE_ENTRY_END,
	SCRIBE_ENTRY_HELLO,
	SCRIBE_ENTRY_ENDING,         /* deadline, CLOCK_MONOTONIC */
	SCRIBE_ENTRY_COMMITTED,      /* unit id, struct scribe_msg_log or nothing */
	SCRIBE_ENTRY_SETTINGS,       /* lines of scribe_jobenv */
	SCRIBE_ENTRY_PLACE,          /* head: a process's own counters */
	SCRIBE_ENTRY_STREAM,         /* head, packed shards */
	SCRIBE_ENTRY_PARENT_CMDLINE, /* proc_id, arguments of the parent */
	SCRIBE_ENTRY_MISSED,         /* head, why */
	SCRIBE_ENTRY_CLAIMED,        /* head, path of a unit's log */
	SCRIBE_ENTRY_HELD,           /* head, text: taken from the ring, not processed yet */
	SCRIBE_ENTRY_BUDGET,         /* scribe_budget.ended_ns */
	SCRIBE_ENTRY_BYPASS,         /* proc_id, file name of a library */
	SCRIBE_ENTRY_TYPES,
};

struct scribe_job_journal_begin {
	uint32_t uid, gid;
	int32_t pid;
	uint32_t run;   /* 1: RUN_BEGIN */
	uint64_t ticks; /* start time of that process */
	uint64_t begun_ns;
	int64_t realtime_ns;
};

struct scribe_job_journal_process {
	uint32_t proc_id, parent, index;
	int32_t tgid;
	uint32_t uid, pad;
	uint64_t start_ns;
	char comm[16];
};

struct scribe_job_journal_name {
	uint32_t slot, generation;
	uint64_t file_id;
};

struct scribe_job_journal_exec {
	uint32_t proc_id, own_root_dir, exe_bytes, pad;
	char comm[16];
};

struct scribe_job_journal_env {
	uint32_t proc_id, disabled;
};

struct scribe_job_journal_record {
	uint32_t proc_id, slot, shards, lives;
	uint32_t tables[1 + SCRIBE_EXTRA_SHARDS]; /* 1: access sizes, 2: strides, 4: heatmap */
};

struct scribe_job_journal_drained {
	uint32_t proc_id, pad;
	uint64_t records; /* preceding ones; earlier ones are of an interrupted attempt */
	uint64_t overflowed_files, cpu_ns, cost_ns, cost_calls;
};

struct scribe_job_journal_place {
	uint32_t proc_id;
	struct scribe_stream_use use;
	uint32_t slot, generation;
};

struct scribe_job_journal_stream {
	uint32_t proc_id;
	struct scribe_stream_use use;
	uint32_t pad;
	uint64_t id; /* record id */
};

struct scribe_job_journal_missed {
	uint32_t proc_id, pad;
	uint64_t modules;
};

struct scribe_job_journal_held {
	uint64_t begin, end; /* in the event ring */
	struct scribe_event event;
};

struct scribe_job_journal_claimed {
	uint32_t unit, number; /* number: job->nlogs */
};

struct scribe_job_journal_end {
	uint32_t proc_id, kind;
	int32_t status, pad;
	uint64_t end_ns;
};

struct scribe_job_journal_hello {
	uint32_t proc_id, pad;
	int64_t rank, size;
	char name[SCRIBE_WORLD_MAX];
};

/* Differs if another build has other memory layouts. */
static inline uint32_t scribe_job_journal_layout(void)
{
	const size_t sizes[] = {SCRIBE_WIRE_VERSION,
				sizeof(struct scribe_slot),
				sizeof(struct scribe_value_table),
				sizeof(struct scribe_heat_table),
				sizeof(struct scribe_counter_slot),
				sizeof(struct scribe_stream_more),
				sizeof(struct scribe_job_journal_place),
				sizeof(struct scribe_job_journal_stream),
				sizeof(struct scribe_rankenv),
				sizeof(struct scribe_envreader),
				sizeof(struct scribe_msg_log),
				sizeof(struct scribe_job_journal_held)};

	return (uint32_t)scribe_hash64(sizes, sizeof(sizes), SCRIBE_ENTRY_TYPES);
}

int scribe_job_journal_path(const struct scribe_daemon *d, uint32_t index, char *ret_path, size_t cap);

#endif
