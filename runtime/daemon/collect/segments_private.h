/* SPDX-License-Identifier: BSD-3-Clause */
/* What segments.c, segment_records.c, segment_windows.c and segment_jobs.c share. */
#ifndef RUNTIME_DAEMON_COLLECT_SEGMENTS_PRIVATE_H
#define RUNTIME_DAEMON_COLLECT_SEGMENTS_PRIVATE_H

#include "logfmt/file/log_types.h"
#include "runtime/daemon/collect/segments.h"

/* What was counted on one slot in one of its uses. */
struct scribe_traced {
	struct scribe_track track;
	enum { SCRIBE_TRACED_UNBOUND, SCRIBE_TRACED_BOUND, SCRIBE_TRACED_DROPPED } state;
	struct scribe_traced *same; /* further ones of the rank and id */
};

/* Modules of segments. */
enum scribe_traced_module { SCRIBE_TRACED_POSIX, SCRIBE_TRACED_MPIIO, SCRIBE_TRACED_MODULES };

/* The records of a rank. */
struct scribe_rank_trace {
	struct scribe_segments *of;
	struct scribe_map by_id[SCRIBE_TRACED_MODULES];
	struct scribe_rank_record {
		uint64_t id;
		enum scribe_traced_module module;
		struct scribe_traced *first;
	} * record; /* in order of appearance */
	size_t n, room;
};

/* A record of more could not be read. */
#define SCRIBE_SEGMENTS_MOST \
	((SCRIBE_MAX_RECORD_BYTES - sizeof(struct scribe_dxt_record)) / sizeof(struct scribe_dxt_segment))

/* Of a job. */
struct scribe_segments {
	struct scribe_segstore store;
	struct scribe_map by_slot; /* slot and generation -> struct scribe_traced */
	uint64_t kept, no_room, untold;
	bool mpiio;  /* some are MPI-IO's */
	bool broken; /* what was kept could not be read */
};

/* What is there, made when it is needed; NULL: memory is out. */
struct scribe_rank_trace *scribe_rank_trace_of(struct scribe_rank_trace **at, struct scribe_segments *s);
/* The rank's record `id` has what was counted on the slot; 0: that counts nowhere. `t` NULL: memory is out. */
void scribe_traced_bind(struct scribe_job *job, struct scribe_segments *s, struct scribe_rank_trace *t,
			struct scribe_traced *e, enum scribe_traced_module module, uint64_t id);
/* Of what module are segments of such a slot? */
enum scribe_traced_module scribe_traced_module_of(uint32_t slot_kind);
/* Bits of the modules of which something is missing, where operations of either may be. */
uint64_t scribe_segments_missing(const struct scribe_segments *s);
int scribe_rank_trace_names(const struct scribe_rank_trace *t, int (*fn)(void *ctx, uint64_t id), void *ctx);
int scribe_rank_trace_write(const struct scribe_job *job, int64_t rank, const struct scribe_rank_trace *t,
			    enum scribe_traced_module module, uint64_t base_ns, struct scribe_writer *wr);
void scribe_rank_trace_free(struct scribe_rank_trace *t);

/* From now on there is memory for segments of one more job; until scribe_segments_job_ends. */
int scribe_segments_job_begins(struct scribe_job *job, struct scribe_err *err);
void scribe_segments_job_ends(struct scribe_job *job);
/* What was counted on a slot is kept; where there is no room that is counted. */
void scribe_segment_keep(struct scribe_segments *s, const struct scribe_segment *from, uint64_t thread);
/* Everything of it is given back, itself not. */
void scribe_segments_clear(struct scribe_segments *s);

/* Operations of the job that found no room on their way from the kernel or a program, of all times. */
uint64_t scribe_segments_unkept(const struct scribe_job *job);
/* Do windows on it want its segments? */
bool scribe_windows_marked(const struct scribe_job *job);

/* NULL: there is no room for one more. */
struct scribe_traced *scribe_traced_at(struct scribe_segments *s, uint32_t slot, uint32_t generation);

#endif
