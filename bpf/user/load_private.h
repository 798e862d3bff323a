/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader's own state, shared by the files of this folder alone. */
#ifndef BPF_USER_LOAD_PRIVATE_H
#define BPF_USER_LOAD_PRIVATE_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <pthread.h>

#include "bpf/user/load.h"

#define SCRIBE_PROGS_MAX 16
#define SCRIBE_MAPS_MAX 48

/* A map or program, whether just loaded or adopted. */
struct scribe_named {
	char name[28];
	int fd;
	uint32_t type, entries, value_bytes;
};

struct scribe_bpf_map_info {
	int fd;
	void *mem;
	size_t bytes;
	uint32_t entries;
	uint32_t value_bytes;
};

/* A map of maps, and these in a row: the n-th chunk begins n strides behind the first. */
struct scribe_chunks {
	int fd;
	char *mem;
	size_t stride, value_bytes;
	uint32_t n, most, entries;
};

#define SCRIBE_SLOT_CHUNK_PIN     "scribe_slots"
#define SCRIBE_TABLE_CHUNK_PIN    "scribe_tables"
#define SCRIBE_SEG_CHUNK_PIN      "scribe_segs"
#define SCRIBE_HEAT_CHUNK_PIN     "scribe_heats"
#define SCRIBE_TABLE_CHUNKS_WHOLE 4 /* from the start, where nobody may be there to add some */

/* The event ring, consumed by us so that its position is known. */
struct scribe_ring {
	int fd;
	uint64_t bytes;
	uint64_t *consumer; /* mapped, written by us */
	const uint64_t *producer;
	const char *data; /* mapped twice in a row */
	uint64_t most;    /* bytes that ever waited at a look */
	uint64_t skip_to; /* events that end at or before this were dealt with in another life */
};

struct scribe_bpf {
	enum scribe_bpf_level level;
	struct scribe_bpf_options opt;
	struct bpf_object *object;
	struct bpf_object_skeleton *skeleton;
	void *generated; /* the generated skeleton, into which the one above points */
	struct scribe_named map[SCRIBE_MAPS_MAX], prog[SCRIBE_PROGS_MAX];
	unsigned nmaps, nprogs;
	bool adopted;       /* the descriptors above are ours to close */
	char pins[108];     /* folder of the pins, empty: none */
	struct scribe_ring ring;
	int link[SCRIBE_PROGS_MAX];
	char link_name[SCRIBE_PROGS_MAX][28];
	unsigned nlinks;
	struct scribe_chunks slots, tables, segs, heats;
	uint64_t grow_again_ns; /* not before, after memory could not be had */
	pthread_mutex_t tails;  /* of the rings of slots and tables: grower and caller write them */
	pthread_t grower;
	bool grows;
	int stop_fd;              /* ends the grower */
	struct scribe_ring asked; /* in which the kernel wakes it */
	struct scribe_bpf_map_info procs, ctl_map, slot_free, proc_free, tab_free, seg_free, heat_free, index, jobs;
	struct scribe_ctl *ctl;
	int descs_fd, task_fd, tgids_fd, excl_fd, ledger_fd, watches_fd;
	uint32_t possible_cpus;
	uint32_t harvested; /* processes since the caches were last swept */
};

/* ---- maps.c ---- */
const struct scribe_named *scribe_bpf_map(const struct scribe_bpf *b, const char *name);
/*
 * Processes that are forked do not get this memory: a copy that makes a log needs none of it, and copying the page
 * tables of a large pool takes milliseconds of the daemon's time.
 */
void scribe_bpf_keep_memory(void *mem, size_t bytes);
int scribe_bpf_map_memory(int fd, uint32_t entries, uint32_t value_bytes, struct scribe_bpf_map_info *ret_map);
/* ---- memory.c ---- */
/* Map what is shared; `fresh`: fill the free rings, too. */
int scribe_bpf_map_all(struct scribe_bpf *b, bool fresh);

/* ---- chunks.c ---- */
/* Room for all of them in a row; none is there yet. */
int scribe_chunks_open(struct scribe_chunks *c, int fd, uint32_t most, uint32_t entries, size_t value_bytes);
void scribe_chunks_close(struct scribe_chunks *c);
/* The chunk that comes next, whose descriptor stays the caller's. */
int scribe_chunks_map(struct scribe_chunks *c, uint32_t index, int fd);
/* ---- grow.c ---- */
/* Is there less than shall be left? */
bool scribe_bpf_is_low(const struct scribe_bpf *b);

static inline void *scribe_chunks_at(const struct scribe_chunks *c, uint32_t index)
{
	uint32_t chunk = index / c->entries;

	if (chunk >= __atomic_load_n(&c->n, __ATOMIC_ACQUIRE))
		return NULL;
	return c->mem + chunk * c->stride + index % c->entries * c->value_bytes;
}

/* ---- slots.c ---- */
/* Next slot of a list; waits for a writer between push and link. */
uint32_t scribe_slot_next(const struct scribe_slot *s);

/* ---- thread.c ---- */
#define SCRIBE_THREAD_STACK (128u << 10)
int scribe_thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *arg);

/* ---- grower.c ---- */
void scribe_grower_stop(struct scribe_bpf *b);

/* ---- ringbuf.c ---- */
int scribe_ring_open(struct scribe_ring *r, int fd, uint32_t bytes);
void scribe_ring_close(struct scribe_ring *r);

/* ---- pins.c ---- */
int scribe_pins_all(struct scribe_bpf *b, struct scribe_err *err);
/* Map what is pinned of them. */
int scribe_pins_chunks(struct scribe_bpf *b, struct scribe_chunks *c, const char *kind);

static inline struct scribe_job_entry *scribe_job_of(struct scribe_bpf *b, uint32_t index)
{
	return (struct scribe_job_entry *)b->jobs.mem + index % SCRIBE_JOBS_MAX;
}

/* ---- job_table.c ---- */
int scribe_bpf_jobs_begin(struct scribe_bpf *b);
int scribe_bpf_drop_job(struct scribe_bpf *b, uint32_t index);


static inline uint32_t *scribe_ring_entry(struct scribe_bpf_map_info *ring, uint32_t at)
{
	return (uint32_t *)ring->mem + (at & (2 * ring->entries - 1)); /* two an entry */
}

/* Give an index back; only this process writes tails, and only one thread at a time. */
static inline void scribe_ring_put(struct scribe_bpf_map_info *ring, struct scribe_ring_ctl *ctl, uint32_t index)
{
	uint32_t tail = ctl->tail;

	*scribe_ring_entry(ring, tail) = index;
	__atomic_store_n(&ctl->tail, tail + 1, __ATOMIC_RELEASE);
}

static inline void scribe_ring_give(struct scribe_bpf *b, struct scribe_bpf_map_info *ring,
				    struct scribe_ring_ctl *ctl, uint32_t index)
{
	pthread_mutex_lock(&b->tails);
	scribe_ring_put(ring, ctl, index);
	pthread_mutex_unlock(&b->tails);
}

#endif
