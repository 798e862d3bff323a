/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments as they are kept until the log is written: packed, by track (a record of
 * one process), in memory up to a bound that all jobs share, then in a file. Each
 * track is a few runs, in each of which starts only rise, so that reading a track in
 * the order of starts is a merge that needs little memory. Must not know processes,
 * jobs or logs.
 */
#ifndef RUNTIME_DAEMON_SEGMENTS_SEGMENT_STORE_H
#define RUNTIME_DAEMON_SEGMENTS_SEGMENT_STORE_H

#include "runtime/daemon/segments/segment_pack.h"

struct scribe_segment_run;

/* What all stores may take together. */
struct scribe_segpool {
	uint64_t memory, memory_most; /* bytes */
	uint64_t file, file_most;
	char dir[4096];          /* for files; empty: there is no file */
	struct scribe_segment_run *runs; /* of all stores */
	uint32_t skip;           /* the file has failed: it is not tried that often */
};

/* Those of one job. */
struct scribe_segstore {
	struct scribe_segpool *pool;
	int fd; /* made when needed; -1 none */
	uint64_t end;
};

/* Reads and writes of one record apart. Begins as zeros. */
struct scribe_track {
	struct scribe_side {
		struct scribe_segment_run **run; /* the one that goes on latest first */
		uint32_t runs, room;
		uint64_t n;
	} side[2];
};

void scribe_segstore_open(struct scribe_segstore *s, struct scribe_segpool *pool);
/* Its tracks have been cleared before. */
void scribe_segstore_close(struct scribe_segstore *s);

/* 0; -ENOSPC: neither memory nor file has room for it; -ENOMEM. */
int scribe_track_add(struct scribe_segstore *s, struct scribe_track *t, unsigned side,
		     const struct scribe_seg *seg);
void scribe_track_clear(struct scribe_segstore *s, struct scribe_track *t);

/* One side of several tracks, in the order of starts. */
struct scribe_segmerge {
	struct scribe_segcursor *cursor;
	uint32_t *heap, n;
	size_t cursors;
};

/* 0, or negative: an error of the file's. The tracks stay as they are until the end. */
int scribe_segmerge_begin(struct scribe_segmerge *m, struct scribe_track *const *tracks, size_t n, unsigned side);
/* 1 and the next one; 0 at the end; negative as above. */
int scribe_segmerge_next(struct scribe_segmerge *m, struct scribe_seg *ret_seg);
void scribe_segmerge_end(struct scribe_segmerge *m);

#endif
