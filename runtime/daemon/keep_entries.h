/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of a job's journal: written by keep.c, read by keep_resume.c. */
#ifndef RUNTIME_DAEMON_KEEP_ENTRIES_H
#define RUNTIME_DAEMON_KEEP_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "logfmt/base/hash.h"
#include "logfmt/rules/streams.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/rankenv.h"
#include "runtime/daemon/streams.h"

enum scribe_keep_type {
	SCRIBE_KEEP_BEGIN = 1, /* head, then the text of JOB_BEGIN or RUN_BEGIN */
	SCRIBE_KEEP_PROCESS,
	SCRIBE_KEEP_NAME,    /* head, then the path */
	SCRIBE_KEEP_EXEC,    /* head, then exe, then the arguments */
	SCRIBE_KEEP_READER,  /* head, then struct scribe_envreader: an environment half read */
	SCRIBE_KEEP_ENV,     /* head, then struct scribe_rankenv */
	SCRIBE_KEEP_RECORD,  /* head, then packed slots and tables */
	SCRIBE_KEEP_DRAINED, /* the records before belong to the process's end */
	SCRIBE_KEEP_END,
	SCRIBE_KEEP_HELLO,
	SCRIBE_KEEP_ENDING,    /* deadline, CLOCK_MONOTONIC */
	SCRIBE_KEEP_COMMITTED, /* unit's id, then struct scribe_msg_log or nothing */
	SCRIBE_KEEP_SETTINGS,  /* lines of scribe_jobenv */
	SCRIBE_KEEP_PLACE,     /* head alone: of a process that counts itself */
	SCRIBE_KEEP_STREAM,    /* head, then packed parts, of a file with what it has beside */
	SCRIBE_KEEP_ABOVE,     /* serial, then the arguments of the process above */
	SCRIBE_KEEP_MISSED,
	SCRIBE_KEEP_TYPES,
};

struct scribe_keep_begin {
	uint32_t uid, gid;
	int32_t pid;
	uint32_t run;   /* 1: it was RUN_BEGIN */
	uint64_t ticks; /* when that process was started */
	uint64_t begun_ns;
	int64_t realtime_ns;
};

struct scribe_keep_process {
	uint32_t serial, parent, index;
	int32_t tgid;
	uint32_t uid, pad;
	uint64_t start_ns;
	char comm[16];
};

struct scribe_keep_name {
	uint32_t slot, birth;
	uint64_t file_id;
};

struct scribe_keep_exec {
	uint32_t serial, own_root_dir, exe_bytes, pad;
	char comm[16];
};

struct scribe_keep_env {
	uint32_t serial, disabled;
};

struct scribe_keep_record {
	uint32_t serial, slot, parts, lives;
	uint32_t tables[1 + SCRIBE_EXTRA_PARTS]; /* 1: access sizes, 2: strides */
};

struct scribe_keep_drained {
	uint32_t serial, pad;
	uint64_t records; /* of those before: an attempt that was cut short may stand in front of them */
	uint64_t folded_files;
};

struct scribe_keep_place {
	uint32_t serial;
	struct scribe_stream_use use;
	uint32_t slot, birth;
};

struct scribe_keep_stream {
	uint32_t serial;
	struct scribe_stream_use use;
	uint32_t pad;
	uint64_t id; /* of the record */
};

struct scribe_keep_missed {
	uint32_t serial, pad;
	uint64_t modules;
};

struct scribe_keep_end {
	uint32_t serial, kind;
	int32_t status, pad;
	uint64_t end_ns;
};

struct scribe_keep_hello {
	uint32_t serial, pad;
	int64_t rank, size;
	char name[SCRIBE_WORLD_MAX];
};

/* What entries hold as it lies in memory: another build may have it otherwise. */
static inline uint32_t scribe_keep_layout(void)
{
	const size_t sizes[] = {SCRIBE_WIRE_VERSION,
				sizeof(struct scribe_slot),
				sizeof(struct scribe_value_table),
				sizeof(struct scribe_stream),
				sizeof(struct scribe_stream_more),
				sizeof(struct scribe_keep_place),
				sizeof(struct scribe_keep_stream),
				sizeof(struct scribe_rankenv),
				sizeof(struct scribe_envreader),
				sizeof(struct scribe_msg_log)};

	return (uint32_t)scribe_hash64(sizes, sizeof(sizes), SCRIBE_KEEP_TYPES);
}

int scribe_keep_path(const struct scribe_daemon *d, uint32_t index, char *ret_path, size_t cap);

#endif
