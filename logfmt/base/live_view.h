/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIVE_REQUEST and LIVE_REPLY of proto.h, for `ioscribe top`. A reply is a page: items from a cursor on, and
 * the next cursor. Counts are since the job's start.
 */
#ifndef LOGFMT_BASE_LIVE_VIEW_H
#define LOGFMT_BASE_LIVE_VIEW_H

#include <stdint.h>

#define SCRIBE_LIVE_NAMES_MAX 64u        /* names per request */
#define SCRIBE_LIVE_BYTES_MAX 49152u     /* bytes of a page */
#define SCRIBE_LIVE_SHM       (1u << 31) /* in a slot: an index in the program's own memory */

enum scribe_live_what {
	SCRIBE_LIVE_JOBS = 1,    /* of the peer's user; root: all */
	SCRIBE_LIVE_RECORDS = 2, /* of a job */
	SCRIBE_LIVE_NAMES = 3,
};

/* Zeros: the first. */
struct scribe_live_cursor {
	uint32_t proc;    /* index of the process; JOBS: number of the job */
	uint32_t proc_id; /* 0: the process was not sent yet */
	uint32_t slot;    /* its next record; 0: all were sent */
	uint32_t shm;     /* its next record in its own memory */
};

struct scribe_msg_live_request {
	uint32_t what;     /* enum scribe_live_what */
	uint32_t job;      /* RECORDS, NAMES */
	uint64_t begun_ns; /* of the job, because numbers are reused */
	struct scribe_live_cursor from;
	uint32_t names;
	uint32_t pad;
	uint64_t name[SCRIBE_LIVE_NAMES_MAX];
};

struct scribe_msg_live_reply {
	uint64_t now_ns;
	struct scribe_live_cursor next;
	uint32_t more; /* 0: last page */
	uint32_t items;
};

enum scribe_live_item {
	SCRIBE_LIVE_JOB = 1,
	SCRIBE_LIVE_PROCESS = 2, /* followed by its records */
	SCRIBE_LIVE_RECORD = 3,
	SCRIBE_LIVE_NAME = 4, /* id (8 bytes) and text without NUL */
};

struct scribe_live_head {
	uint32_t type;  /* enum scribe_live_item */
	uint32_t bytes; /* the next head is aligned to 8 */
};

struct scribe_live_sums {
	uint64_t operations, bytes[2]; /* read, written */
	uint64_t opens, stats;
};

struct scribe_live_job {
	uint32_t job; /* reused later */
	uint32_t uid;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	int64_t begun_s;   /* since 1970 */
	uint32_t living;   /* processes */
	uint32_t ending;
	uint64_t processes; /* including those that have ended */
	uint32_t records, records_most;
	struct scribe_live_sums ended;
	uint64_t failed_lookups; /* calls on paths that returned an error, of all processes */
	double folder_part;      /* of the opens and stats between two looks, below `folder`; 0: not known */
	char mount[64], folder[192];
	char id[128]; /* or the pid of a run's first process */
	char user[64];
};

struct scribe_live_process {
	uint32_t proc_id;
	int32_t pid;
	uint32_t uid;
	uint32_t unit;                     /* MPI world; 0: none */
	int64_t rank;                      /* -1: none */
	struct scribe_live_sums collected; /* at MPI_Finalize, closed streams */
	char program[64];
};

/* Slot and generation distinguish records of one name. */
struct scribe_live_record {
	uint32_t proc_id;
	uint32_t module; /* enum scribe_module of the log */
	uint32_t slot, generation;
	uint64_t name; /* for NAMES; 0: none */
	uint64_t operations;
	uint64_t opens, stats;
	uint64_t ops[2], bytes[2]; /* read, written */
	uint64_t busy_ns[3];       /* read, write, other: time without overlap */
	uint64_t longest_ns[2];    /* read, write */
	uint32_t own;              /* 1: counts to its process's sums */
	uint32_t folded;           /* 1: an overflow record of many files */
};

#endif
