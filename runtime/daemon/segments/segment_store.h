/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores packed segments until the log is written. A track is a few runs with rising starts, so that reading in
 * order is a cheap merge. Must not know processes, jobs or logs.
 */
#ifndef RUNTIME_DAEMON_SEGMENTS_SEGMENT_STORE_H
#define RUNTIME_DAEMON_SEGMENTS_SEGMENT_STORE_H

#include "runtime/daemon/segments/segment_pack.h"

struct scribe_segment_run;

/* Shared by all stores. */
struct scribe_segpool {
	uint64_t memory, memory_most; /* bytes */
	uint64_t file, file_most;
	char dir[4096];                  /* for files; "": none */
	struct scribe_segment_run *runs; /* of all stores */
	uint32_t skip;                   /* calls until spilling is tried again */
};

/* Per job. */
struct scribe_segstore {
	struct scribe_segpool *pool;
	int fd; /* -1: not opened yet */
	uint64_t end;
};

/* Reads and writes of one record. Initially zero. */
struct scribe_track {
	struct scribe_side {
		struct scribe_segment_run **run; /* latest last start first */
		uint32_t runs, capacity;
		uint64_t n;
	} side[2];
};

void scribe_segstore_open(struct scribe_segstore *s, struct scribe_segpool *pool);
/* After its tracks are cleared. */
void scribe_segstore_close(struct scribe_segstore *s);

/* -ENOSPC: neither memory nor file has space; -ENOMEM. */
int scribe_track_add(struct scribe_segstore *s, struct scribe_track *t, unsigned side, const struct scribe_seg *seg);
void scribe_track_clear(struct scribe_segstore *s, struct scribe_track *t);

/* Reads one side of several tracks in order of starts. */
struct scribe_segmerge {
	struct scribe_segcursor *cursor;
	uint32_t *heap, n;
	size_t cursors;
};

/* 0 or a negative errno of the file. The tracks must not change until the end. */
int scribe_segmerge_begin(struct scribe_segmerge *m, struct scribe_track *const *tracks, size_t n, unsigned side);
/* 1: a segment; 0: the end; or a negative errno. */
int scribe_segmerge_next(struct scribe_segmerge *m, struct scribe_seg *ret_seg);
void scribe_segmerge_end(struct scribe_segmerge *m);

#endif
