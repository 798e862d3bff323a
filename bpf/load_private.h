/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader's own state, shared by the files of this folder alone. */
#ifndef BPF_LOAD_PRIVATE_H
#define BPF_LOAD_PRIVATE_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/load.h"

#define SCRIBE_PROGS_MAX 16

struct scribe_map {
	int fd;
	void *mem;
	size_t bytes;
	uint32_t entries;
	uint32_t value_bytes;
};

struct scribe_bpf {
	enum scribe_bpf_level level;
	struct scribe_bpf_options opt;
	struct bpf_object *object;
	struct bpf_object_skeleton *skeleton;
	void *keep; /* the generated skeleton, into which the one above points */
	struct ring_buffer *ring;
	struct bpf_link *links[SCRIBE_PROGS_MAX];
	unsigned nlinks;
	struct scribe_map slots, procs, ctl_map, slot_free, proc_free, tab_free, index, jobs;
	struct scribe_ctl *ctl;
	int tables_fd, descs_fd, task_fd, tgids_fd, excl_fd, ledger_fd, watches_fd;
	uint32_t nchunks; /* value-table chunks so far */
	int chunk_fd[SCRIBE_TABLE_CHUNKS_MAX];
	struct scribe_value_table *chunk[SCRIBE_TABLE_CHUNKS_MAX];
	uint32_t possible_cpus;
	uint64_t recorded[SCRIBE_JOBS_MAX]; /* operations in harvested records of their own */
	uint64_t folded[SCRIBE_JOBS_MAX];   /* and in catch-alls */
	uint32_t harvested; /* processes since the caches were last swept */
	scribe_event_fn event_fn;
	void *event_ctx;
	int event_stop;
};

static inline struct scribe_job *scribe_job_of(struct scribe_bpf *b, uint32_t index)
{
	return (struct scribe_job *)b->jobs.mem + index % SCRIBE_JOBS_MAX;
}

/* ---- watch.c ---- */
int scribe_bpf_jobs_begin(struct scribe_bpf *b);
int scribe_bpf_drop_job(struct scribe_bpf *b, uint32_t index);


static inline uint32_t *scribe_ring_entry(struct scribe_map *ring, uint32_t at)
{
	return (uint32_t *)((char *)ring->mem + (size_t)(at & (ring->entries - 1)) * ring->value_bytes);
}

/* Give an index back; only this process writes tails. */
static inline void scribe_ring_give(struct scribe_map *ring, struct scribe_ring_ctl *ctl, uint32_t index)
{
	uint32_t tail = ctl->tail;

	*scribe_ring_entry(ring, tail) = index;
	__atomic_store_n(&ctl->tail, tail + 1, __ATOMIC_RELEASE);
}

#endif
