/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader's state, for this folder only. */
#ifndef BPF_USER_LOAD_PRIVATE_H
#define BPF_USER_LOAD_PRIVATE_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <pthread.h>

#include "bpf/user/load.h"

#define SCRIBE_PROGS_MAX 20
#define SCRIBE_MAPS_MAX  48

/* Loaded or adopted. */
struct scribe_named {
	char name[28];
	int fd;
	uint32_t type, entries, value_bytes;
	uint64_t memory; /* bytes; 0 not asked yet */
};

struct scribe_bpf_map_info {
	int fd;
	void *mem;
	size_t bytes;
	uint32_t entries;
	uint32_t value_bytes;
};

/* A map of maps; chunk n is mapped n strides after the first. */
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
#define SCRIBE_TABLE_CHUNKS_WHOLE 4 /* at the start, where no daemon may run to add some */

/* Consumed without libbpf, so that the position is known. */
struct scribe_ring {
	int fd;
	uint64_t bytes;
	uint64_t *consumer; /* mapped */
	const uint64_t *producer;
	const char *data; /* mapped twice in a row */
	uint64_t most;    /* bytes that ever waited */
	uint64_t skip_to; /* events up to here were handled by an earlier daemon */
};

struct scribe_bpf {
	enum scribe_bpf_level level;
	struct scribe_bpf_options opt;
	struct bpf_object *object;
	struct bpf_object_skeleton *skeleton;
	void *generated; /* generated skeleton that contains the above */
	struct scribe_named map[SCRIBE_MAPS_MAX], prog[SCRIBE_PROGS_MAX];
	unsigned nmaps, nprogs;
	bool adopted;   /* close the descriptors above */
	char pins[108]; /* empty: none */
	struct scribe_ring ring;
	int link[SCRIBE_PROGS_MAX];
	char link_name[SCRIBE_PROGS_MAX][28];
	unsigned nlinks;
	struct scribe_chunks slots, tables, segs, heats;
	uint64_t grow_again_ns; /* pause after a failed allocation */
	pthread_mutex_t tails;  /* grower and caller write the tails of rings */
	pthread_t grower;
	bool grows;
	int stop_fd;
	struct scribe_ring asked; /* wakes the grower */
	struct scribe_bpf_map_info procs, ctl_map, slot_free, proc_free, tab_free, seg_free, heat_free, index, jobs;
	struct scribe_ctl *ctl;
	int descs_fd, task_fd, tgids_fd, excl_fd, ledger_fd, watches_fd;
	uint32_t possible_cpus;
	uint32_t cache;     /* of struct scribe_ctl */
	uint32_t harvested; /* processes since the last sweep */
};

const struct scribe_named *scribe_bpf_map(const struct scribe_bpf *b, const char *name);
/* Not copied by fork: copying the page tables of a large pool takes milliseconds. */
void scribe_bpf_keep_memory(void *mem, size_t bytes);
int scribe_bpf_map_memory(int fd, uint32_t entries, uint32_t value_bytes, struct scribe_bpf_map_info *ret_map);
/* `fresh`: fills the free rings. */
int scribe_bpf_map_all(struct scribe_bpf *b, bool fresh);

/* Reserves address space only. */
int scribe_chunks_open(struct scribe_chunks *c, int fd, uint32_t most, uint32_t entries, size_t value_bytes);
void scribe_chunks_close(struct scribe_chunks *c);
/* The next chunk; its descriptor stays the caller's. */
int scribe_chunks_map(struct scribe_chunks *c, uint32_t index, int fd);
bool scribe_bpf_is_low(const struct scribe_bpf *b);

static inline void *scribe_chunks_at(const struct scribe_chunks *c, uint32_t index)
{
	uint32_t chunk = index / c->entries;

	if (chunk >= __atomic_load_n(&c->n, __ATOMIC_ACQUIRE))
		return NULL;
	return c->mem + chunk * c->stride + index % c->entries * c->value_bytes;
}

/* Waits for a writer between push and link. */
uint32_t scribe_slot_next(const struct scribe_slot *s);

#define SCRIBE_THREAD_STACK (128u << 10)
int scribe_thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *arg);

void scribe_grower_stop(struct scribe_bpf *b);

int scribe_ring_open(struct scribe_ring *r, int fd, uint32_t bytes);
void scribe_ring_close(struct scribe_ring *r);

int scribe_pins_all(struct scribe_bpf *b, struct scribe_err *err);
/* Maps the pinned ones. */
int scribe_pins_chunks(struct scribe_bpf *b, struct scribe_chunks *c, const char *kind);

static inline struct scribe_job_entry *scribe_job_of(struct scribe_bpf *b, uint32_t index)
{
	return (struct scribe_job_entry *)b->jobs.mem + index % SCRIBE_JOBS_MAX;
}

int scribe_bpf_jobs_begin(struct scribe_bpf *b);
int scribe_bpf_drop_job(struct scribe_bpf *b, uint32_t index);

static inline uint32_t *scribe_ring_entry(struct scribe_bpf_map_info *ring, uint32_t at)
{
	return (uint32_t *)ring->mem + (at & (2 * ring->entries - 1)); /* two per entry */
}

/* Only one thread of this process at a time may write tails. */
static inline void scribe_ring_put(struct scribe_bpf_map_info *ring, struct scribe_ring_ctl *ctl, uint32_t index)
{
	uint32_t tail = ctl->tail;

	*scribe_ring_entry(ring, tail) = index;
	__atomic_store_n(&ctl->tail, tail + 1, __ATOMIC_RELEASE);
}

static inline void scribe_ring_give(struct scribe_bpf *b, struct scribe_bpf_map_info *ring, struct scribe_ring_ctl *ctl,
				    uint32_t index)
{
	pthread_mutex_lock(&b->tails);
	scribe_ring_put(ring, ctl, index);
	pthread_mutex_unlock(&b->tails);
}

#endif
