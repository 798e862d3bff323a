/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OPERATIONS_SEGMENTS_PRIVATE_H
#define RUNTIME_DAEMON_OPERATIONS_SEGMENTS_PRIVATE_H

#include "logfmt/file/log_types.h"
#include "runtime/daemon/operations/segments.h"

/* Segments of one use of a slot. */
struct scribe_traced {
	struct scribe_track track;
	enum { SCRIBE_TRACED_UNBOUND, SCRIBE_TRACED_BOUND, SCRIBE_TRACED_DROPPED } state;
	struct scribe_traced *same; /* next of the same rank and id */
};

enum scribe_traced_module { SCRIBE_TRACED_POSIX, SCRIBE_TRACED_MPIIO, SCRIBE_TRACED_MODULES };

struct scribe_rank_trace {
	struct scribe_segments *of;
	struct scribe_map by_id[SCRIBE_TRACED_MODULES];
	struct scribe_rank_record {
		uint64_t id;
		enum scribe_traced_module module;
		struct scribe_traced *first;
	} * record; /* in order of appearance */
	size_t n, capacity;
};

/* a larger record could not be read */
#define SCRIBE_SEGMENTS_MOST \
	((SCRIBE_MAX_RECORD_BYTES - sizeof(struct scribe_dxt_record)) / sizeof(struct scribe_dxt_segment))

struct scribe_segments {
	struct scribe_segstore store;
	struct scribe_map by_slot; /* slot and generation -> struct scribe_traced */
	uint64_t kept, no_room, untold;
	bool mpiio;  /* some are of MPI-IO */
	bool broken; /* could not be read */
};

/* Allocated at first use. NULL: out of memory. */
struct scribe_rank_trace *scribe_rank_trace_of(struct scribe_rank_trace **at, struct scribe_segments *s);
/* Assigns the slot's segments to the rank's record; id 0: drops them. `t` NULL: out of memory. */
void scribe_traced_bind(struct scribe_job *job, struct scribe_segments *s, struct scribe_rank_trace *t,
			struct scribe_traced *e, enum scribe_traced_module module, uint64_t id);
enum scribe_traced_module scribe_traced_module_of(uint32_t slot_kind);
/* Bits of modules that may be incomplete. */
uint64_t scribe_segments_missing(const struct scribe_segments *s);
int scribe_rank_trace_names(const struct scribe_rank_trace *t, int (*fn)(void *ctx, uint64_t id), void *ctx);
int scribe_rank_trace_write(const struct scribe_job *job, int64_t rank, const struct scribe_rank_trace *t,
			    enum scribe_traced_module module, uint64_t base_ns, struct scribe_writer *wr);
void scribe_rank_trace_free(struct scribe_rank_trace *t);

int scribe_segments_job_begins(struct scribe_job *job, struct scribe_err *err);
void scribe_segments_job_ends(struct scribe_job *job);
/* Stores a segment, or counts it as lost. */
void scribe_segment_keep(struct scribe_segments *s, const struct scribe_segment *from, uint64_t thread);
void scribe_segments_clear(struct scribe_segments *s);

/* Total of the job's operations lost before they reached the daemon. */
uint64_t scribe_segments_unkept(const struct scribe_job *job);
/* Do windows need the job's segments? */
bool scribe_windows_marked(const struct scribe_job *job);

/* NULL: the limit is reached. */
struct scribe_traced *scribe_traced_at(struct scribe_segments *s, uint32_t slot, uint32_t generation);

#endif
