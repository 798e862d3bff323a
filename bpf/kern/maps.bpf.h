/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The maps, and the first step of each operation: ledger, process, scratch. Sizes of 1 are set by the loader.
 * Nothing grows with CPUs x files.
 */
#ifndef BPF_KERN_MAPS_BPF_H
#define BPF_KERN_MAPS_BPF_H

#include "bpf/kern/compat.bpf.h"
#include "bpf/kern/slot_index.h"
#include "bpf/kern/thread.bpf.h"
#include "bpf/wire.h"

#define SCRIBE_MAX_SYSCALL 512
#define SCRIBE_POP_TRIES   16

struct scribe_slot_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_SLOTS_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scribe_slot));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct scribe_slot_chunk);
} scribe_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scribe_proc);
} scribe_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scribe_ctl);
} scribe_ctl SEC(".maps");

/* Rings of free indices, two per entry; 2^n, set by the loader. */
struct scribe_ring_pair {
	__u32 at[2];
};
struct scribe_ring_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scribe_ring_pair);
};
struct scribe_ring_map scribe_slot_free SEC(".maps");
struct scribe_ring_map scribe_proc_free SEC(".maps");
struct scribe_ring_map scribe_tab_free SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_SEGS_CHUNK *SCRIBE_SEG_CHUNKS_MAX / 2);
	__type(key, __u32);
	__type(value, struct scribe_ring_pair);
} scribe_seg_free SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_HEATS_CHUNK *SCRIBE_HEAT_CHUNKS_MAX / 2);
	__type(key, __u32);
	__type(value, struct scribe_ring_pair);
} scribe_heat_free SEC(".maps");

const volatile __u32 scribe_slot_mask;
const volatile __u32 scribe_proc_mask;
const volatile __u32 scribe_tab_mask;

struct scribe_table_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_TABLES_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scribe_value_table));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SCRIBE_TABLE_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct scribe_table_chunk);
} scribe_tables SEC(".maps");

/* Empty while segments are off. */
struct scribe_seg_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_SEGS_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scribe_segbuf));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SCRIBE_SEG_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct scribe_seg_chunk);
} scribe_segs SEC(".maps");

struct scribe_heat_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_HEATS_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scribe_heat_table));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SCRIBE_HEAT_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct scribe_heat_chunk);
} scribe_heats SEC(".maps");

/* bpf/kern/slot_index.h; 2^n. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} scribe_index SEC(".maps");
const volatile __u32 scribe_index_mask;

/*
 * (process, open file description) to slot: a cache; and (process, inode) to the slot of a mapped file. Addresses
 * are reused, so `identity` (scribe_identity, scribe_inode_identity) is compared at each use.
 */
struct scribe_desc_key {
	__u64 file;
	__u64 proc_id;
};
struct scribe_desc {
	__u64 identity;
	__u32 slot;
	__u32 generation;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct scribe_desc_key);
	__type(value, struct scribe_desc);
} scribe_descs SEC(".maps");

/* (process, MPI_File) to slot of files counted in the program, for system calls beneath. `layer` is 0. */
struct scribe_above {
	__u32 slot;
	__u32 generation;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct scribe_handle_key);
	__type(value, struct scribe_above);
} scribe_above SEC(".maps");

struct scribe_excl_key {
	char name[32];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct scribe_excl_key);
	__type(value, __u32);
} scribe_excl SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIBE_JOBS_MAX);
	__type(key, __u32);
	__type(value, struct scribe_job_entry);
} scribe_jobs SEC(".maps");

/* (user or cgroup) to jobs; replaced as a whole, under RCU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCRIBE_JOBS_MAX);
	__type(key, __u64);
	__type(value, struct scribe_match_entry);
} scribe_match_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRIBE_JOBS_MAX);
	__type(key, __u32);
	__type(value, struct scribe_ledger);
} scribe_ledger SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} scribe_events SEC(".maps");

/* Wakes bpf/user/grower.c; no content. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} scribe_asked SEC(".maps");

/*
 * A task can be preempted inside a program on newer kernels (faultable system call tracepoints): three per CPU,
 * taken by a flag.
 */
#define SCRIBE_SCRATCHES 3
struct scribe_scratch {
	__u32 busy;
	__u32 off;
	/* environment search (bpf/kern/enroll.bpf.h) */
	__u64 env_at;
	__u64 env_end;
	__u32 env_job;    /* job with the variable searched for */
	__u32 env_seen;   /* enum scribe_env_seen */
	__u32 env_middle; /* env_at is inside a string */
	__u32 env_pad;
	struct scribe_climb climb;
	struct scribe_event ev; /* the text must follow without a gap */
	char text[SCRIBE_NAME_MAX_BYTES + SCRIBE_NAME_MAX_BYTES + 512];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRIBE_SCRATCHES);
	__type(key, __u32);
	__type(value, struct scribe_scratch);
} scribe_scratch SEC(".maps");

static __always_inline struct scribe_slot *scribe_slot_at(__u32 index)
{
	__u32 at = index / SCRIBE_SLOTS_CHUNK; /* reused: stack space is short */
	void *slots = bpf_map_lookup_elem(&scribe_slots, &at);

	at = index % SCRIBE_SLOTS_CHUNK;
	return slots ? bpf_map_lookup_elem(slots, &at) : 0;
}

static __always_inline struct scribe_proc *scribe_proc_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_procs, &index);
}

static __always_inline struct scribe_job_entry *scribe_job_at(__u32 index)
{
	return bpf_map_lookup_elem(&scribe_jobs, &index);
}

static __always_inline struct scribe_ctl *scribe_ctl_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scribe_ctl, &zero);
}

SCRIBE_GLOBAL int scribe_count_job(__u32 job, __u32 what)
{
	struct scribe_ledger *l = bpf_map_lookup_elem(&scribe_ledger, &job);

	/* Atomic: another task may run on this CPU in between. */
	if (l && what < SCRIBE_L_COUNT)
		__sync_fetch_and_add(&l->v[what], 1);
	return 0;
}

static __always_inline void scribe_count_many(const struct scribe_proc *p, enum scribe_ledger_id what, __u64 n)
{
	__u32 job = p->job;
	struct scribe_ledger *l = bpf_map_lookup_elem(&scribe_ledger, &job);

	if (l)
		__sync_fetch_and_add(&l->v[what], n);
}

static __always_inline void scribe_count(const struct scribe_proc *p, enum scribe_ledger_id what)
{
	scribe_count_job(p->job, what);
}

/* Looks up the process: for rare events. */
static __always_inline void scribe_count_thread(const struct scribe_thread *t, enum scribe_ledger_id what)
{
	struct scribe_proc *p = scribe_proc_at(t->proc);

	if (p)
		scribe_count(p, what);
}

static __always_inline struct scribe_scratch *scribe_scratch_take_job(__u32 job)
{
	for (__u32 i = 0; i < SCRIBE_SCRATCHES; i++) {
		__u32 key = i;
		struct scribe_scratch *s = bpf_map_lookup_elem(&scribe_scratch, &key);

		if (!s)
			return 0;
		if (!__sync_lock_test_and_set(&s->busy, 1))
			return s;
	}
	scribe_count_job(job, SCRIBE_L_SCRATCH_BUSY);
	return 0;
}

static __always_inline struct scribe_scratch *scribe_scratch_take(const struct scribe_proc *p)
{
	return scribe_scratch_take_job(p->job);
}

static __always_inline void scribe_scratch_put(struct scribe_scratch *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

/* `low` entries are kept for callers that must not fail. */
#define SCRIBE_POP(map, ctl, mask, low, ret) \
	do { \
		for (int pop_i = 0; pop_i < SCRIBE_POP_TRIES; pop_i++) { \
			__u32 pop_h = *(volatile __u32 *)&(ctl)->head; \
			__u32 pop_t = *(volatile __u32 *)&(ctl)->tail; \
			__u32 pop_k = (pop_h & (mask)) / 2; \
			struct scribe_ring_pair *pop_v; \
			if ((__s32)(pop_t - pop_h) <= (__s32)(low)) \
				break; \
			pop_v = bpf_map_lookup_elem(&(map), &pop_k); \
			if (!pop_v) \
				break; \
			pop_k = *(volatile __u32 *)&pop_v->at[pop_h & 1]; \
			if (__sync_val_compare_and_swap(&(ctl)->head, pop_h, pop_h + 1) == pop_h) { \
				(ret) = pop_k; \
				break; \
			} \
		} \
	} while (0)

#endif
