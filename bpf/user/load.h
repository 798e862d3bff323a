/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel programs as user space sees them: load, attach, enrol, drain.
 * Everything that knows map names and attach types is behind this header; the
 * daemon adds names, ranks and logs. Not thread safe: one thread drives it.
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

/*
 * How the programs are attached to system calls and read the kernel's memory, best first;
 * the names are those of the key `bpf_attach_mode`. The numbers stand in pinned maps.
 */
#define SCRIBE_BPF_LEVELS(X) \
	X(TP_BTF, 1, "tp_btf") /* typed tracepoints, direct loads: from Linux 6.2 on */ \
	X(TP_BTF_PROBE, 3, "tp_btf_probe") /* the same by probe reads */ \
	X(TRACEPOINT, 5, "tracepoint") /* trace events, direct loads: where the others' programs can be preempted */

enum scribe_bpf_level {
	SCRIBE_BPF_AUTO = 0, /* the best that loads */
#define SCRIBE_X(id, number, name) SCRIBE_BPF_##id = number,
	SCRIBE_BPF_LEVELS(SCRIBE_X)
#undef SCRIBE_X
};

/* As the key `attach` names it; AUTO for any other name. */
enum scribe_bpf_level scribe_bpf_level_of(const char *name);
const char *scribe_bpf_level_name(enum scribe_bpf_level level);

struct scribe_bpf_options {
	uint32_t slots;        /* records of the node, 1 KiB each; 0: 114688 */
	uint32_t procs;        /* processes at once; 0: 16384 */
	uint32_t tables;       /* most value tables, 528 B each, in steps; 0: 2 * slots */
	uint32_t ring_bytes;   /* event ring, a power of two; 0: for the names of all slots, or what CPUs may fill */
	enum scribe_bpf_level level;
	bool inexact;          /* the level also where the kernel skips its programs, which the ledger tells */
	bool verbose;          /* pass libbpf's and the verifier's messages to stderr */
	bool nobody_joins;     /* no job has who joins at exec: the program that looks is not loaded */
	uint32_t lose_each;    /* for tests: lose every n-th data call, which the ledger must show; 0: none */
	bool streams_told;     /* programs that count their streams themselves are believed to do so */
	const char *pins;      /* folder on a BPF file system to make and pin everything in; NULL: none */
	bool whole; /* all memory from the start, though somebody is there to add some; so it is with pins */
};

/*
 * Load the programs and create the maps; nothing is attached yet.
 * 0, or a negative code with one line in `err` that says what the kernel or
 * the caller's privileges lack (no BTF, EPERM, memory) and what to do.
 */
int scribe_bpf_open(const struct scribe_bpf_options *options, struct scribe_bpf **ret_bpf,
		    struct scribe_err *err);
/* Detach, remove the pins, unmap, close. NULL allowed; returns NULL. */
struct scribe_bpf *scribe_bpf_free(struct scribe_bpf *bpf);
/* Unmap and close, but leave what is pinned, attached and recording, to be adopted. */
struct scribe_bpf *scribe_bpf_close_keep_pins(struct scribe_bpf *bpf);
/*
 * Take over what another process has pinned in this folder. -ENOENT: nothing is
 * there; -SCRIBE_E_VERSION: another wire version, which is left alone; else what
 * is there is of no use.
 */
int scribe_bpf_adopt(const char *pins, struct scribe_bpf **ret_bpf, struct scribe_err *err);
/* Remove whatever is pinned in the folder: with the last holder gone, so is it. */
void scribe_bpf_remove_pins(const char *pins);
/*
 * What stands in the folder of an open or adopted object, by kind: "links", "progs", "maps",
 * and with "lib_" before it those of the library programs (uprobes/), which go with them.
 */
bool scribe_bpf_pinned(const struct scribe_bpf *bpf);
/* 0 also when nothing is pinned; negative: an error of the file system's. */
int scribe_bpf_pin(struct scribe_bpf *bpf, const char *kind, const char *name, int fd);
void scribe_bpf_unpin(struct scribe_bpf *bpf, const char *kind, const char *name);
void scribe_bpf_unpin_all(struct scribe_bpf *bpf, const char *kind);
/* Open every pin of a kind; `fn` takes the descriptor over. Ends at a negative code, which is returned. */
int scribe_bpf_each_pin(struct scribe_bpf *bpf, const char *kind,
			int (*fn)(void *ctx, const char *name, int fd), void *ctx);
/* Are the programs attached? */
bool scribe_bpf_attached(const struct scribe_bpf *bpf);

/*
 * Attach all programs, and detach them. Those that see processes come and go cost no system call
 * anything; those at system calls, and io_uring's, cost every process of the node. Each group by
 * itself: what is attached already stays so. Where one cannot be attached, those before it are.
 */
int scribe_bpf_attach(struct scribe_bpf *bpf, struct scribe_err *err);
void scribe_bpf_detach(struct scribe_bpf *bpf);
int scribe_bpf_attach_processes(struct scribe_bpf *bpf, struct scribe_err *err);
int scribe_bpf_attach_calls(struct scribe_bpf *bpf, struct scribe_err *err);
/* Are all programs at system calls attached? */
bool scribe_bpf_calls_attached(const struct scribe_bpf *bpf);
/*
 * Before the first of these is detached: processes that are enrolled from now on (`on` false) are
 * told late, SCRIBE_PF_LATE. All that were enrolled before are in their jobs' proc_used afterwards:
 * where there is one, take the word back and detach none.
 */
void scribe_bpf_calls_told(struct scribe_bpf *bpf, bool on);
/*
 * The daemon is about to sleep until it is woken: the next event does. False: there are
 * events already. And it has been woken, by whatever.
 */
bool scribe_bpf_sleeps(struct scribe_bpf *bpf);
void scribe_bpf_wakes(struct scribe_bpf *bpf);
/* Detach one of them, which may take 80 ms where they are trace events. False: there is none. */
bool scribe_bpf_detach_call(struct scribe_bpf *bpf);
enum scribe_bpf_level scribe_bpf_chosen(const struct scribe_bpf *bpf);
/* May something of ours be attached to trace events here (perf_event_open), not on links of BPF's own? */
bool scribe_bpf_uses_events(void);
/* Does the chosen level read the kernel's memory by probe reads? */
bool scribe_bpf_probe_reads(const struct scribe_bpf *bpf);

/*
 * Describe job `index` (below SCRIBE_JOB_ORPHANED) before enrolling into it, or
 * change it; from now on processes that match join it at exec. What it holds
 * (used, kept, proc_used) is left alone. -EINVAL: index, or a variable without
 * '=', or longer than SCRIBE_VARIABLE_MAX - 1; else an error of the kernel's.
 */
int scribe_bpf_set_job(struct scribe_bpf *bpf, uint32_t index, const struct scribe_job_entry *job);
/* job->variable and its length; -EINVAL as above. */
int scribe_job_set_variable(struct scribe_job_entry *job, const char *name_and_value);
/* Nobody joins job `index` any more; its processes go on. */
void scribe_bpf_close_job(struct scribe_bpf *bpf, uint32_t index);
/* Never record files below "/<name>/" (a top-level name, at most 31 bytes). */
int scribe_bpf_exclude_top(struct scribe_bpf *bpf, const char *name, struct scribe_err *err);
/* Take that back; NULL: of all names. */
void scribe_bpf_include_top(struct scribe_bpf *bpf, const char *name);
/* The entry of a job as the kernel keeps it; valid until free. NULL: no such index. */
struct scribe_job_entry *scribe_bpf_job(struct scribe_bpf *bpf, uint32_t index);
/*
 * Job `index` is over: nobody joins it any more, what still lives of it is not
 * recorded from now on and belongs to SCRIBE_JOB_ORPHANED; its entry and its
 * ledger are as new.
 */
void scribe_bpf_forget_job(struct scribe_bpf *bpf, uint32_t index);

/*
 * Make the (single-threaded) process `pid` and all its descendants part of a
 * job. On success the new process's proc_id and index are returned. A descendant
 * announces itself by a FORK event; the process itself does not.
 */
int scribe_bpf_enrol(struct scribe_bpf *bpf, pid_t pid, uint32_t job, uint32_t *ret_index,
		     uint32_t *ret_serial, struct scribe_err *err);

/* Shared memory: valid until free; fields change under the reader's eyes. */
struct scribe_proc *scribe_bpf_proc(struct scribe_bpf *bpf, uint32_t index);
struct scribe_slot *scribe_bpf_slot(struct scribe_bpf *bpf, uint32_t index);

/*
 * Take the events that wait in the ring, in order; `fn` gets each
 * with its text behind it and returns 0 to go on. Waits up to timeout_ms when
 * there is none. Returns the number taken or a negative code.
 */
typedef int (*scribe_event_fn)(void *ctx, const struct scribe_event *event, const char *text);
int scribe_bpf_poll(struct scribe_bpf *bpf, int timeout_ms, scribe_event_fn fn, void *ctx);
/*
 * Position behind the event that `fn` has been given, in bytes since the ring was
 * made. An event is given back to the kernel when `fn` has returned: a process
 * that dies before gets it again. Who has noted it drops it by skip_to.
 */
uint64_t scribe_bpf_position(const struct scribe_bpf *bpf);

/* How far events have been taken, and how far they have been put in. */
uint64_t scribe_bpf_taken(const struct scribe_bpf *b);
uint64_t scribe_bpf_put(const struct scribe_bpf *b);
/* Bytes of the event ring, and the most that ever waited in it at a look. */
uint64_t scribe_bpf_ring_bytes(const struct scribe_bpf *b, uint64_t *ret_most);
void scribe_bpf_skip_to(struct scribe_bpf *bpf, uint64_t position);

/* One record of a process: the slot, its shards (1 to 4) and their tables. */
struct scribe_slot_view {
	uint32_t index;
	const struct scribe_slot *slot;
	unsigned nshards;
	const struct scribe_posix_shard *shard[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_ext_shard *ext[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_value_table *access[1 + SCRIBE_EXTRA_SHARDS]; /* or NULL */
	const struct scribe_value_table *stride[1 + SCRIBE_EXTRA_SHARDS]; /* or NULL */
	const struct scribe_heat *heat[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_heat_table *heat_table[1 + SCRIBE_EXTRA_SHARDS]; /* or NULL */
};
typedef int (*scribe_slot_fn)(void *ctx, const struct scribe_slot_view *view);

/*
 * The records of an exited process, each once, then its slots, tables and
 * process entry are given back. Call after its EXIT event. A non-zero return
 * of `fn` stops the walk and keeps the rest for another call. `fn` NULL: they
 * are known already, only give back.
 */
int scribe_bpf_drain_and_free(struct scribe_bpf *bpf, uint32_t proc, scribe_slot_fn fn, void *ctx);
/* Where a walk over the records of an exited process is: zeros, it has not begun. */
struct scribe_bpf_walk {
	bool started;
	uint32_t next;   /* slot */
	uint64_t sum[2]; /* operations of what has been passed: recorded, folded */
};
/*
 * The same in two steps that may be interrupted: the records, each once, without giving anything back; then, when the
 * walk has ended, giving them back. 1: until_ns has come (0: never), call it again; 0: done.
 */
int scribe_bpf_walk(struct scribe_bpf *bpf, uint32_t proc, struct scribe_bpf_walk *walk, uint64_t until_ns,
		    scribe_slot_fn fn, void *ctx);
int scribe_bpf_give(struct scribe_bpf *bpf, uint32_t proc, const struct scribe_bpf_walk *walk, uint64_t until_ns);
/*
 * The same for a living process: its records are retired one by one (later I/O
 * opens new ones) and copied when no writer is on them. The process entry stays.
 */
int scribe_bpf_drain_live(struct scribe_bpf *bpf, uint32_t proc, scribe_slot_fn fn, void *ctx);

/* Sums over a record's shards. */
struct scribe_slot_copy {
	uint32_t kind, generation;
	uint64_t events, ops[2], bytes[2], busy_ns[3], max_ns[2]; /* as in struct scribe_posix_shard */
};
/*
 * What stands in record *slot of a living process now, and in *slot the next one, 0 at the end. Takes nothing,
 * changes nothing and waits for nobody: where a writer does not let go, its shard is read as it is.
 * 1: ret_look is told; 0: nothing is to be told of this one; -ENOENT: it is none of the process's; -EAGAIN: the
 * next one is not known for a moment, and *slot is as it was.
 */
int scribe_bpf_peek(struct scribe_bpf *bpf, uint32_t proc, uint32_t *slot, struct scribe_slot_copy *ret_copy);
/* Operations that stand in records of the job's processes and have not been drained: [1] in excluded ones. */
void scribe_bpf_undrained(struct scribe_bpf *bpf, uint32_t job, uint64_t ret_events[2]);

/*
 * Segments (bpf/wire.h): `n` of them, written one after another by one thread, or by
 * io_uring for several processes (leaf->proc_id 0).
 */
typedef void (*scribe_leaf_fn)(void *ctx, const struct scribe_leaf *leaf, const struct scribe_segment *first,
			       uint32_t n);
/*
 * From now on so many leaves shall be free, as far as there may be. 0, or an error of the
 * kernel's, after which it is tried again by scribe_bpf_grow_value_tables.
 */
int scribe_bpf_want_leaves(struct scribe_bpf *bpf, uint32_t ahead);
/* Take the full ones, and those of threads that have ended. */
void scribe_bpf_leaves(struct scribe_bpf *bpf, scribe_leaf_fn fn, void *ctx);
/* And whatever living threads have written so far. */
void scribe_bpf_leaves_all(struct scribe_bpf *bpf, scribe_leaf_fn fn, void *ctx);

/* Set or clear SCRIBE_JF_SEGMENTS, SCRIBE_JF_OPENS of job `index`: what records that it makes from now on leave. */
void scribe_bpf_trace_job(struct scribe_bpf *bpf, uint32_t index, uint32_t flags, bool on);
/*
 * The same, by SCRIBE_SF_TRACED and SCRIBE_SF_OPENS, of the records that are there. All of them are met
 * where the programs have settled since scribe_bpf_trace_job.
 */
void scribe_bpf_trace_slots(struct scribe_bpf *bpf, uint32_t index, uint32_t flags, bool on);
/*
 * Ask when every program has ended that runs now, without waiting. False: the last question
 * has no answer yet, and this one is not asked.
 */
bool scribe_bpf_settle(void);
/* The answer to the last question is there. */
bool scribe_bpf_settled(void);

/*
 * A job's ledger: the kernel's counts over CPUs, and what the records drained
 * so far hold. "Seen" includes a thread's operations when it has ended.
 */
int scribe_bpf_ledger(struct scribe_bpf *bpf, uint32_t job, struct scribe_ledger *ret_ledger);
/*
 * More slots and value tables where few are left; done by poll, too. 0 also when at the
 * limit; an error of the kernel's, after which nothing is tried for a second.
 */
int scribe_bpf_grow_value_tables(struct scribe_bpf *bpf);
/*
 * The same by a thread, as soon as the kernel asks, whatever the caller is doing. It has
 * the privileges of the caller at this time. What cannot be had is left to poll.
 */
void scribe_bpf_keep_growing(struct scribe_bpf *bpf);
/* Readable by edge where much waits for poll. Borrowed. */
int scribe_bpf_events_fd(const struct scribe_bpf *bpf);
/*
 * For a second object that works on the same maps: descriptor (borrowed) and
 * number of entries of a map by name; negative: no such map.
 */
int scribe_bpf_map_fd(const struct scribe_bpf *bpf, const char *name, uint32_t *ret_entries);
/* Runs of our programs that the kernel skipped (recursion), all programs. */
uint64_t scribe_bpf_misses(const struct scribe_bpf *bpf);
/* Slots that can still be handed out; bytes of kernel memory of all maps. */
uint32_t scribe_bpf_free_slots(const struct scribe_bpf *bpf);
uint64_t scribe_bpf_memory(const struct scribe_bpf *bpf);
/* Of that, what each CPU adds (the per-CPU maps), in bytes. */
uint64_t scribe_bpf_memory_per_cpu(const struct scribe_bpf *bpf);

#endif
