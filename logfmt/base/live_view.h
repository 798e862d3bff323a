/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of a service and answered while its jobs run (`ioscribe top`): LOOK and LOOKED of
 * logfmt/base/proto.h. An answer is a page: items from one place of a job on, as many as fit into the
 * message and into the time that the daemon takes for it, and the place where the next page begins.
 * Counts grow from the job's beginning on; who asks twice works out rates. Nothing is kept between pages.
 *
 * Text is any bytes, ends in NUL inside its array.
 */
#ifndef LOGFMT_BASE_LIVE_VIEW_H
#define LOGFMT_BASE_LIVE_VIEW_H

#include <stdint.h>

#define SCRIBE_LIVE_NAMES_MAX 64u        /* names asked for at once */
#define SCRIBE_LIVE_BYTES_MAX 49152u     /* of a page */
#define SCRIBE_LIVE_SHM       (1u << 31) /* in scribe_look_record.slot: a place of the program's own memory */

enum scribe_live_what {
	SCRIBE_LIVE_JOBS = 1,    /* the asker's, root's: all */
	SCRIBE_LIVE_RECORDS = 2, /* living processes of a job, and their records */
	SCRIBE_LIVE_NAMES = 3,   /* of records */
};

/* A place in the order of a job's processes and records; all zero: the first. */
struct scribe_live_cursor {
	uint32_t proc;    /* place of the process in the table; JOBS: the job's number */
	uint32_t proc_id; /* 0: it has not been told yet */
	uint32_t slot;    /* its next record, 0: all were told */
	uint32_t shm;     /* the next record in its own memory */
};

struct scribe_msg_live_request {
	uint32_t what;     /* enum scribe_look_what */
	uint32_t job;      /* RECORDS, NAMES */
	uint64_t begun_ns; /* of that job: another may have its number now */
	struct scribe_live_cursor from;
	uint32_t names; /* NAMES: so many */
	uint32_t pad;
	uint64_t name[SCRIBE_LIVE_NAMES_MAX];
};

/* Items follow, each behind a head. */
struct scribe_msg_live_reply {
	uint64_t now_ns; /* CLOCK_MONOTONIC when the page was filled */
	struct scribe_live_cursor next;
	uint32_t more; /* 0: that was the last page */
	uint32_t items;
};

enum scribe_live_item {
	SCRIBE_LIVE_JOB = 1,
	SCRIBE_LIVE_PROCESS = 2, /* its records follow */
	SCRIBE_LIVE_RECORD = 3,
	SCRIBE_LIVE_NAME = 4, /* its id, 8 bytes, and its text, without an end */
};

struct scribe_live_head {
	uint32_t type;  /* enum scribe_look_item */
	uint32_t bytes; /* that follow; the next head begins at a multiple of 8 */
};

/* Sums of records that were collected already. */
struct scribe_live_sums {
	uint64_t operations, bytes[2]; /* read, written */
};

struct scribe_live_job {
	uint32_t job; /* its number here, which another has later */
	uint32_t uid;
	uint64_t begun_ns;  /* CLOCK_MONOTONIC */
	int64_t begun_s;    /* since 1970 */
	uint32_t living;    /* processes */
	uint32_t ending;    /* 1: its end has been told */
	uint64_t processes; /* of all times */
	uint32_t records, records_most;
	struct scribe_live_sums ended; /* of processes that have ended */
	char id[128];                  /* the scheduler's, or the first process's id of a run */
	char user[64];
};

struct scribe_live_process {
	uint32_t proc_id;
	int32_t pid;
	uint32_t uid;
	uint32_t unit;                     /* of ranks: which MPI world of the job; 0: none */
	int64_t rank;                      /* -1: none */
	struct scribe_live_sums collected; /* while it goes on: at MPI_Finalize, closed streams */
	char program[64];
};

/* One file or other object of one process by one layer. Records of one name are told apart by slot and
 * generation. */
struct scribe_live_record {
	uint32_t proc_id;
	uint32_t module; /* enum scribe_module of the log */
	uint32_t slot, generation;
	uint64_t name;             /* ask NAMES; 0: it has none */
	uint64_t operations;       /* of every kind */
	uint64_t ops[2], bytes[2]; /* read, written */
	uint64_t busy_ns[3];       /* reading, writing, else: time without overlap */
	uint64_t longest_ns[2];    /* of one read, write */
	uint32_t own;              /* 1: its bytes and operations count to its process's sums */
	uint32_t folded;           /* 1: it stands for many files */
};

#endif
