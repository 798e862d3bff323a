/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring from the daemon to a publisher: a sealed memory file with a head and frames, written only by the
 * daemon. Frames are multiples of 8 bytes and do not wrap: PAD fills the end. A JOB comes before the first
 * frame of its job, a NAME before the first use of its id; both may be repeated.
 */
#ifndef LOGFMT_BASE_PUBLISH_RING_H
#define LOGFMT_BASE_PUBLISH_RING_H

#include <stdint.h>

#define SCRIBE_PUBLISH_MAGIC   0x62757069u /* "ipub" */
#define SCRIBE_PUBLISH_VERSION 2u
#define SCRIBE_PUBLISH_BYTES   (8u << 20) /* 93,000 operations */
#define SCRIBE_PUBLISH_STEP    (1u << 20) /* between reports of the reader */
#define SCRIBE_PUBLISH_NAME    4096u      /* bytes; longer names are cut */

struct scribe_publish_head {
	uint32_t magic, version;
	uint64_t bytes; /* of the ring */
	uint64_t ended; /* 1: the last frame was written */
	uint64_t pad0[5];
	uint64_t put;  /* bytes of frames written so far */
	uint64_t lost; /* operations that did not fit, or with an unknown file */
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
	uint32_t bytes; /* with this head */
	uint16_t type;  /* enum scribe_publish_type */
	uint16_t job;
};

struct scribe_publish_job {
	struct scribe_publish_frame frame;
	int64_t number;      /* job id of the job's logs */
	int64_t realtime_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t uid, pad;
	char node[64]; /* NUL-terminated */
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
	SCRIBE_PUBLISH_FLUSH = 4, /* of HDF5; counted in later messages */
};

/* Selection of an HDF5 read or write. */
enum scribe_publish_select {
	SCRIBE_PUBLISH_SELECT_ALL = 0,
	SCRIBE_PUBLISH_SELECT_POINTS = 1,
	SCRIBE_PUBLISH_SELECT_IRREGULAR = 2,
	SCRIBE_PUBLISH_SELECT_REGULAR = 3,
};

struct scribe_publish_event {
	struct scribe_publish_frame frame;
	uint64_t id;  /* with a NAME */
	uint64_t exe; /* of the program; 0: unknown */
	int64_t rank;
	int64_t offset; /* -1: unknown */
	uint64_t length;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t base_ns;          /* base of relative times */
	uint16_t module;           /* enum scribe_module_id */
	uint8_t op;                /* enum scribe_publish_op */
	uint8_t select;            /* enum scribe_publish_select, for H5D */
	int32_t ndims;             /* of the dataset (H5D); otherwise -1 */
	int64_t npoints;
};

#endif
