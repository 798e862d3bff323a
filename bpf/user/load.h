/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel programs for user space. Hides map names and attach types; must not know names, ranks or logs. Not
 * thread safe.
 */
#ifndef BPF_USER_LOAD_H
#define BPF_USER_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/wire.h"
#include "logfmt/base/err.h"

struct scribe_bpf;

/* Attach modes, best first, named as by the key `bpf_attach_mode`. The numbers are in pinned maps. */
#define SCRIBE_BPF_LEVELS(X) \
	X(TP_BTF, 1, "tp_btf")             /* typed tracepoints, direct loads: from Linux 6.2 on */ \
	X(TP_BTF_PROBE, 3, "tp_btf_probe") /* the same by probe reads */ \
	X(TRACEPOINT, 5, "tracepoint")     /* trace events, direct loads: where the others' programs can be preempted */

enum scribe_bpf_level {
	SCRIBE_BPF_AUTO = 0,
#define SCRIBE_X(id, number, name) SCRIBE_BPF_##id = number,
	SCRIBE_BPF_LEVELS(SCRIBE_X)
#undef SCRIBE_X
};

/* AUTO for an unknown name. */
enum scribe_bpf_level scribe_bpf_level_of(const char *name);
const char *scribe_bpf_level_name(enum scribe_bpf_level level);

struct scribe_bpf_options {
	uint32_t slots;      /* 1088 bytes each; 0: 114688 */
	uint32_t procs;      /* at once; 0: 16384 */
	uint32_t tables;     /* limit, 528 B each; 0: 2 * slots */
	uint32_t ring_bytes; /* power of two; 0: the names of all slots, or a part per CPU */
	enum scribe_bpf_level level;
	bool inexact;          /* allow the level although the kernel skips its programs; the ledger shows it */
	bool verbose;          /* libbpf's and the verifier's output to stderr */
	bool nobody_joins;     /* joining at exec is never needed */
	uint32_t lose_each;    /* tests: lose every n-th data call; 0: none */
	bool streams_reported; /* believe programs that count their own streams */
	const char *pins;      /* directory on a BPF file system; NULL: do not pin */
	bool whole;            /* allocate everything at the start, as always with pins */
};

/* Attaches nothing. On failure `err` names what the kernel or the caller lacks and a remedy. */
int scribe_bpf_open(const struct scribe_bpf_options *options, struct scribe_bpf **ret_bpf, struct scribe_err *err);
/* Detaches, removes the pins, unmaps, closes. Returns NULL. */
struct scribe_bpf *scribe_bpf_free(struct scribe_bpf *bpf);
/* Pinned objects stay attached and recording, for scribe_bpf_adopt. */
struct scribe_bpf *scribe_bpf_close_keep_pins(struct scribe_bpf *bpf);
/* -ENOENT: nothing is pinned; -SCRIBE_E_VERSION: another wire version, left alone; other errors: not usable. */
int scribe_bpf_adopt(const char *pins, struct scribe_bpf **ret_bpf, struct scribe_err *err);
void scribe_bpf_remove_pins(const char *pins);
/* Kinds: "links", "progs", "maps"; with "lib_" those of uprobes/. */
bool scribe_bpf_pinned(const struct scribe_bpf *bpf);
int scribe_bpf_pin(struct scribe_bpf *bpf, const char *kind, const char *name, int fd);
void scribe_bpf_unpin(struct scribe_bpf *bpf, const char *kind, const char *name);
void scribe_bpf_unpin_all(struct scribe_bpf *bpf, const char *kind);
/* `fn` owns the descriptor; its first negative return ends the walk. */
int scribe_bpf_each_pin(struct scribe_bpf *bpf, const char *kind, int (*fn)(void *ctx, const char *name, int fd),
			void *ctx);
bool scribe_bpf_attached(const struct scribe_bpf *bpf);

/*
 * Programs for processes cost system calls nothing; those at system calls and io_uring cost every process of
 * the node. What was attached before an error stays so.
 */
int scribe_bpf_attach(struct scribe_bpf *bpf, struct scribe_err *err);
void scribe_bpf_detach(struct scribe_bpf *bpf);
int scribe_bpf_attach_processes(struct scribe_bpf *bpf, struct scribe_err *err);
int scribe_bpf_attach_calls(struct scribe_bpf *bpf, struct scribe_err *err);
bool scribe_bpf_calls_attached(const struct scribe_bpf *bpf);
/*
 * `on` false, before detaching: processes enrolled from then on are SCRIBE_PF_LATE; earlier ones are in
 * proc_used of their jobs. If there are any, undo it and detach nothing.
 */
void scribe_bpf_calls_complete(struct scribe_bpf *bpf, bool on);
/* Before and after sleeping. False: events are waiting; otherwise the next one wakes the daemon. */
bool scribe_bpf_sleeps(struct scribe_bpf *bpf);
void scribe_bpf_wakes(struct scribe_bpf *bpf);
/* May take 80 ms with trace events. False: none left. */
bool scribe_bpf_detach_call(struct scribe_bpf *bpf);
enum scribe_bpf_level scribe_bpf_chosen(const struct scribe_bpf *bpf);
/* Whether trace events (perf_event_open) may be used instead of BPF links. */
bool scribe_bpf_uses_events(void);
bool scribe_bpf_probe_reads(const struct scribe_bpf *bpf);

/*
 * `index` below SCRIBE_JOB_ORPHANED; processes can join from then on. Keeps used, kept and proc_used. -EINVAL:
 * index, or variable without '=' or too long.
 */
int scribe_bpf_set_job(struct scribe_bpf *bpf, uint32_t index, const struct scribe_job_entry *job);
int scribe_job_set_variable(struct scribe_job_entry *job, const char *name_and_value);
/* Ends joining; its processes continue. */
void scribe_bpf_close_job(struct scribe_bpf *bpf, uint32_t index);
/* Excludes "/<name>/", at most 31 bytes. */
int scribe_bpf_exclude_top(struct scribe_bpf *bpf, const char *name, struct scribe_err *err);
/* NULL: all names. */
void scribe_bpf_include_top(struct scribe_bpf *bpf, const char *name);
/* Shared memory, valid until free. NULL: bad index. */
struct scribe_job_entry *scribe_bpf_job(struct scribe_bpf *bpf, uint32_t index);
/* Its processes are not recorded any more and belong to SCRIBE_JOB_ORPHANED; entry and ledger are reset. */
void scribe_bpf_forget_job(struct scribe_bpf *bpf, uint32_t index);

/* Enrols a single-threaded process; its descendants send FORK events. */
int scribe_bpf_enrol(struct scribe_bpf *bpf, pid_t pid, uint32_t job, uint32_t *ret_index, uint32_t *ret_serial,
		     struct scribe_err *err);

/* Shared memory, valid until free; fields change concurrently. */
struct scribe_proc *scribe_bpf_proc(struct scribe_bpf *bpf, uint32_t index);

/* The same, if it still is this process's; or NULL. */
static inline struct scribe_proc *scribe_bpf_proc_of(struct scribe_bpf *bpf, uint32_t index, uint32_t proc_id)
{
	struct scribe_proc *p = scribe_bpf_proc(bpf, index);

	return p && p->proc_id == proc_id ? p : NULL;
}

/* From now on neither the process nor its children are recorded. */
static inline void scribe_bpf_disable(struct scribe_bpf *bpf, uint32_t index, uint32_t proc_id)
{
	struct scribe_proc *p = scribe_bpf_proc_of(bpf, index, proc_id);

	if (p)
		__atomic_fetch_or(&p->flags, SCRIBE_PF_DISABLED, __ATOMIC_RELAXED);
}
struct scribe_slot *scribe_bpf_slot(struct scribe_bpf *bpf, uint32_t index);

/* Events in order; `fn` returns 0 to continue. Returns their number, or an error. */
typedef int (*scribe_event_fn)(void *ctx, const struct scribe_event *event, const char *text);
int scribe_bpf_poll(struct scribe_bpf *bpf, int timeout_ms, scribe_event_fn fn, void *ctx);
/*
 * After the current event, in bytes since the ring was made. Events are freed when `fn` returns: after a crash
 * they come again, unless skip_to drops them.
 */
uint64_t scribe_bpf_position(const struct scribe_bpf *bpf);

/* Positions of the consumer and the producer. */
uint64_t scribe_bpf_taken(const struct scribe_bpf *b);
uint64_t scribe_bpf_put(const struct scribe_bpf *b);
/* Size of the ring, and the most that ever waited in it. */
uint64_t scribe_bpf_ring_bytes(const struct scribe_bpf *b, uint64_t *ret_most);
void scribe_bpf_skip_to(struct scribe_bpf *bpf, uint64_t position);

struct scribe_slot_view {
	uint32_t index;
	const struct scribe_slot *slot;
	unsigned nshards;
	const struct scribe_posix_shard *shard[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_ext_shard *ext[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_slot *part[1 + SCRIBE_EXTRA_SHARDS];          /* with the page cache's counts */
	const struct scribe_value_table *access[1 + SCRIBE_EXTRA_SHARDS]; /* NULL: none */
	const struct scribe_value_table *stride[1 + SCRIBE_EXTRA_SHARDS]; /* NULL: none */
	const struct scribe_heat *heat[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_heat_table *heat_table[1 + SCRIBE_EXTRA_SHARDS]; /* NULL: none */
};
typedef int (*scribe_slot_fn)(void *ctx, const struct scribe_slot_view *view);

/*
 * Passes each record of an exited process once, then frees everything; call after its EXIT event. A non-zero
 * return of `fn` keeps the rest. `fn` NULL: only free.
 */
int scribe_bpf_drain_and_free(struct scribe_bpf *bpf, uint32_t proc, scribe_slot_fn fn, void *ctx);
/* Zeros: not started. */
struct scribe_bpf_walk {
	bool started;
	uint32_t next;
	uint64_t sum[2]; /* operations passed: recorded, overflowed */
};
/* The same in two interruptible steps. 1: until_ns is reached (0: never), call again. */
int scribe_bpf_walk(struct scribe_bpf *bpf, uint32_t proc, struct scribe_bpf_walk *walk, uint64_t until_ns,
		    scribe_slot_fn fn, void *ctx);
int scribe_bpf_give(struct scribe_bpf *bpf, uint32_t proc, const struct scribe_bpf_walk *walk, uint64_t until_ns);
/* Records are retired one by one, then copied without a concurrent writer. */
int scribe_bpf_drain_live(struct scribe_bpf *bpf, uint32_t proc, scribe_slot_fn fn, void *ctx);

struct scribe_slot_copy {
	uint32_t kind, generation;
	uint64_t events, opens, stats, ops[2], bytes[2], busy_ns[3], max_ns[2]; /* as in struct scribe_posix_shard */
};
/*
 * Copies record *slot of a running process, without waiting or changes; *slot becomes the next, 0 at the end.
 * 1: ret_copy is set; 0: nothing to show; -ENOENT: not its record; -EAGAIN: link being set, *slot unchanged.
 */
int scribe_bpf_peek(struct scribe_bpf *bpf, uint32_t proc, uint32_t *slot, struct scribe_slot_copy *ret_copy);
/* Operations in records not drained yet; [1] in excluded ones. */
void scribe_bpf_undrained(struct scribe_bpf *bpf, uint32_t job, uint64_t ret_events[2]);

/* `n` segments of one thread in order, or of io_uring for several processes (segbuf->proc_id 0). */
typedef void (*scribe_segbuf_fn)(void *ctx, const struct scribe_segbuf *segbuf, const struct scribe_segment *first,
				 uint32_t n);
/* Number of buffers to keep free. After an error scribe_bpf_grow_value_tables tries again. */
int scribe_bpf_want_segbufs(struct scribe_bpf *bpf, uint32_t ahead);
/* Full buffers, and those of exited threads. */
void scribe_bpf_segbufs(struct scribe_bpf *bpf, scribe_segbuf_fn fn, void *ctx);
/* Also what running threads have written so far. */
void scribe_bpf_segbufs_all(struct scribe_bpf *bpf, scribe_segbuf_fn fn, void *ctx);

/* Sets SCRIBE_JF_SEGMENTS, SCRIBE_JF_OPENS for future records. */
void scribe_bpf_trace_job(struct scribe_bpf *bpf, uint32_t index, uint32_t flags, bool on);
/* On existing records; complete only after a grace period since scribe_bpf_trace_job. */
void scribe_bpf_trace_slots(struct scribe_bpf *bpf, uint32_t index, uint32_t flags, bool on);
/* Starts waiting for all running programs, without blocking. False: still waiting. */
bool scribe_bpf_sync_begin(void);
bool scribe_bpf_sync_done(void);

/* Sum over CPUs and drained records. A thread's operations are "seen" at its exit. */
int scribe_bpf_ledger(struct scribe_bpf *bpf, uint32_t job, struct scribe_ledger *ret_ledger);
/* Also done by poll. 0 at the limit; after an error it pauses for a second. */
int scribe_bpf_grow_value_tables(struct scribe_bpf *bpf);
/* By a thread with the caller's current privileges. */
void scribe_bpf_keep_growing(struct scribe_bpf *bpf);
/* Edge-triggered. Borrowed. */
int scribe_bpf_events_fd(const struct scribe_bpf *bpf);
/* For a second object on the same maps; borrowed. Negative: no such map. */
int scribe_bpf_map_fd(const struct scribe_bpf *bpf, const char *name, uint32_t *ret_entries);
/* As in struct scribe_ctl; 0: not measured. */
uint32_t scribe_bpf_call_ns(const struct scribe_bpf *bpf);
/* Bits as in struct scribe_ctl, `cache`. */
uint32_t scribe_bpf_cache(const struct scribe_bpf *bpf);
/* Runs skipped by the kernel (recursion), all programs. */
uint64_t scribe_bpf_misses(const struct scribe_bpf *bpf);
uint32_t scribe_bpf_free_slots(const struct scribe_bpf *bpf);
/* Bytes of all maps. */
uint64_t scribe_bpf_memory(struct scribe_bpf *bpf);
/* Bytes of per-CPU maps, per CPU. */
uint64_t scribe_bpf_memory_per_cpu(const struct scribe_bpf *bpf);

#endif
