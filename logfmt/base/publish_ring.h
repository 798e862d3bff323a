/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which the daemon hands single operations of running jobs to a publisher: a sealed
 * memory file of SCRIBE_PUBLISH_FILE_BYTES, a head and a ring of frames, which the daemon alone can
 * write. How much of it the publisher has read it sends in messages (PUBLISH_TAKEN). What finds no room is
 * counted in `lost`: the daemon never waits. Native byte order: both are on one node.
 *
 * A frame is a multiple of 8 bytes and never wraps: where one does not fit before the ring's end, a
 * frame of type PAD (or, with 8 bytes left, its head alone) fills it up. The first frame that speaks
 * of a job is its JOB, the first that speaks of a name id is its NAME; both may come again.
 */
#ifndef LOGFMT_BASE_PUBLISH_RING_H
#define LOGFMT_BASE_PUBLISH_RING_H

#include <stdint.h>

#define SCRIBE_PUBLISH_MAGIC   0x62757069u /* "ipub" */
#define SCRIBE_PUBLISH_VERSION 2u
#define SCRIBE_PUBLISH_BYTES   (8u << 20) /* of frames: 93,000 operations */
#define SCRIBE_PUBLISH_STEP    (1u << 20) /* bytes read before that is reported */
#define SCRIBE_PUBLISH_NAME    4096u      /* most bytes of a name that is handed over; longer ones are cut */

struct scribe_publish_head {
	uint32_t magic, version;
	uint64_t bytes; /* of the ring */
	uint64_t ended; /* 1: the job is over, and nothing more is written */
	uint64_t pad0[5];
	uint64_t put;  /* bytes of frames ever written */
	uint64_t lost; /* operations that found no room, or whose file could not be told */
	uint64_t pad1[6];
};

#define SCRIBE_PUBLISH_FILE_BYTES (sizeof(struct scribe_publish_head) + SCRIBE_PUBLISH_BYTES)

enum scribe_publish_type {
	SCRIBE_PUBLISH_PAD = 0,
	SCRIBE_PUBLISH_JOB = 1,
	SCRIBE_PUBLISH_NAME_OF = 2,
	SCRIBE_PUBLISH_EVENT = 3,
};

struct scribe_publish_frame {
	uint32_t bytes; /* this head included */
	uint16_t type;  /* enum scribe_publish_type */
	uint16_t job;   /* index of the job while it lives */
};

struct scribe_publish_job {
	struct scribe_publish_frame frame;
	int64_t number;      /* what the job's logs have as their job id */
	int64_t realtime_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC when the job began */
	uint32_t uid, pad;
	char node[64]; /* this node's name, ends in NUL */
};

struct scribe_publish_name {
	struct scribe_publish_frame frame;
	uint64_t id;
	uint32_t bytes, pad;
	char text[]; /* no NUL */
};

enum scribe_publish_op {
	SCRIBE_PUBLISH_READ = 0,
	SCRIBE_PUBLISH_WRITE = 1,
	SCRIBE_PUBLISH_OPEN = 2,
	SCRIBE_PUBLISH_CLOSE = 3,
	SCRIBE_PUBLISH_FLUSH = 4, /* of HDF5: counted in later messages, none of its own */
};

/* What of a dataset of HDF5 a read or write has selected. */
enum scribe_publish_select {
	SCRIBE_PUBLISH_SELECT_ALL = 0,
	SCRIBE_PUBLISH_SELECT_POINTS = 1,
	SCRIBE_PUBLISH_SELECT_IRREGULAR = 2,
	SCRIBE_PUBLISH_SELECT_REGULAR = 3,
};

struct scribe_publish_event {
	struct scribe_publish_frame frame;
	uint64_t id;          /* of the file: a record id, and of a name */
	uint64_t exe;         /* id of the name of the process's program; 0: not known */
	int64_t rank;
	int64_t offset;       /* -1: not known */
	uint64_t length;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t base_ns;     /* the log's start: relative times count from here */
	uint16_t module;      /* enum scribe_module_id */
	uint8_t op;           /* enum scribe_publish_op */
	uint8_t select;       /* enum scribe_publish_select, of H5D */
	int32_t ndims;        /* of the dataset (H5D), -1 elsewhere */
	int64_t npoints;
};

#endif
