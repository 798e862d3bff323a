/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns processes to ranks, and ranks to logs. A unit is an MPI world, or the rest of the job. The first
 * process below a launcher with a rank in its environment is the root of the rank; descendants belong to it,
 * except ranks of a nested launcher. MPI_Init (HELLO) confirms or corrects this. Must not know kernel maps,
 * files or sockets.
 */
#ifndef RUNTIME_DAEMON_MODEL_MPI_WORLDS_H
#define RUNTIME_DAEMON_MODEL_MPI_WORLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/counters_own.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/model/rank_env.h"

struct scribe_core;
struct scribe_job;
struct scribe_records;
struct scribe_rank_trace;
struct scribe_rank_heat;

/* Numbers of 64 bits alone, added one by one. */
struct scribe_process_totals {
	uint64_t records, overflowed_files, operations, bytes_read, bytes_written;
	uint64_t opens, stats;
	uint64_t cpu_ns, cost_ns, cost_calls; /* as in struct scribe_proc */
};

#define SCRIBE_PASSTHROUGH "io_uring passthrough"
/* Libraries that move data past the kernel; as bits in `bypass`. */
enum scribe_bypass {
	SCRIBE_BYPASS_CUFILE,
	SCRIBE_BYPASS_DAOS,
	SCRIBE_BYPASS_SPDK,
	SCRIBE_BYPASS_URING, /* no library: commands to NVMe devices */
	SCRIBE_BYPASSES,
};

struct scribe_rank {
	int64_t rank;
	uint32_t bypass;                /* its processes have loaded these */
	uint32_t root;                  /* proc_id */
	struct scribe_records *records; /* drained so far, or since FETCH */
	struct scribe_records *fetched; /* given to the rank at FETCH */
	enum { SCRIBE_RANK_IDLE, SCRIBE_RANK_HELLO, SCRIBE_RANK_FETCHED, SCRIBE_RANK_DONE, SCRIBE_RANK_FAILED } state;
	unsigned live;                   /* running processes */
	struct scribe_rank_heat *heat;   /* or NULL */
	struct scribe_rank_trace *trace; /* segments, or NULL */
	struct scribe_core *core;        /* NULL until needed */
};

struct scribe_log_unit {
	uint32_t id; /* 0: the rest of the job */
	char key[SCRIBE_WORLD_MAX + 16];
	int64_t nprocs;    /* 0: unknown */
	uint32_t launcher; /* proc_id; 0: unknown */
	unsigned live;     /* running processes */
	bool committed;
	bool part; /* this node has a part of its log */
	bool closed;
	enum { SCRIBE_WRITER_UNDECIDED, SCRIBE_WRITER_RANKS, SCRIBE_WRITER_DAEMON } writer;
	struct scribe_map ranks; /* rank number -> struct scribe_rank */
	struct scribe_process *first, *last;
	uint64_t listed;
	uint64_t processes;
	uint64_t failed;                               /* signal, or status not 0 */
	struct scribe_process_totals summed_processes; /* no longer listed */
	uint64_t nsummed_processes;
	bool has_non_launcher;
	bool is_framework; /* a world without MPI (scribe_rank_is_framework) */
	uint64_t start_ns; /* earliest, CLOCK_MONOTONIC; 0: none */
	uint64_t end_ns;   /* latest */
	uint64_t base_ns;  /* start of the log; 0 before the first FETCH */
	int64_t jobid;     /* of the scheduler; -1: none */
	uint64_t missed;   /* modules with possibly missing calls, as bits */
	char why[320];     /* causes; "": unknown */
	char *log_path;    /* of the merged log; or NULL */
	char *partial;     /* of the collective log; or NULL */
	char *claimed;     /* an earlier daemon may have written here; or NULL */
	struct scribe_log_unit *next;
};

struct scribe_process {
	uint32_t proc_id, parent_serial, index;
	struct scribe_job *job;
	int32_t tgid;
	uint32_t uid;
	struct scribe_log_unit *unit;
	struct scribe_rank *rank;
	uint32_t launcher; /* proc_id of the nearest, itself included; 0: none */
	bool launcher_below_rank;
	bool is_launcher;
	uint32_t bypass;                    /* loaded; of its rank, too */
	bool below_framework;               /* the launcher is one of ranks without MPI */
	uint64_t seen[SCRIBE_RANK_SOURCES]; /* of its environment (rank_env.h) */
	bool is_root;                       /* of its rank */
	enum {
		SCRIBE_WRAP_UNKNOWN, /* no exec seen yet */
		SCRIBE_WRAP_ABSENT,
		SCRIBE_WRAP_LOADED,   /* libioscribe-inside.so is mapped */
		SCRIBE_WRAP_UNPROBED, /* a copy that must not be probed */
	} wrap_state;
	uint64_t counted_inside; /* modules counted by libioscribe-inside.so, as bits */
	bool ended;
	bool is_excluded;
	bool disabled;     /* IOSCRIBE_DISABLE: its records are dropped */
	bool exit_seen;    /* by the last sweep; the next one ends it */
	bool drained;      /* the rest in the kernel is ignored */
	bool own_root_dir; /* root and mounts are the machine's or the daemon's */
	uint64_t root_id;  /* identifies root and mounts; 0: the machine's */
	enum scribe_process_end end_kind;
	int32_t status; /* wait status */
	uint64_t start_ns, end_ns;
	uint64_t exec_ns;  /* 0: before it was traced */
	uint64_t began_ns; /* end of the delay by its runtime; 0: none */
	char comm[16];
	char *exe;            /* path or argv[0]; or NULL */
	char *args;           /* joined by spaces; NULL: unknown or dropped */
	char *parent_cmdline; /* of an untraced parent; or NULL */
	struct scribe_process_totals totals;
	struct scribe_envreader *env;       /* while environment pieces arrive */
	struct scribe_jobenv *jobenv;       /* likewise; or NULL */
	struct scribe_process *next, *prev; /* of the unit */
	uint64_t missed;                    /* as in its unit */
	char *why;
	uint32_t held;      /* pending look-ups that delay its end */
	uint64_t waits_for; /* checks before its end (exclusion_check.h); 0: no */
	struct scribe_process *next_end;
	bool leaving; /* ended, being drained */
	struct scribe_draining *draining;
};

struct scribe_worlds {
	struct scribe_map by_proc_id; /* running or still listed */
	struct scribe_log_unit *rest;
	struct scribe_log_unit *units; /* the rest first, then in order of appearance */
	uint32_t next_id;
	size_t list_limit; /* listed processes per unit */
	uint64_t living;
	uint64_t living_agents; /* of these, launchers of ranks without MPI */
	struct scribe_process_totals ended;
	uint64_t unknown_ranks; /* processes that are ranks, without a number */
	char launchers[96];     /* names, as text */
	char remote[32];        /* first program that starts processes elsewhere; or "" */
};

int scribe_worlds_init(struct scribe_worlds *worlds, size_t list_limit);
void scribe_worlds_clear(struct scribe_worlds *worlds, void (*free_rank)(struct scribe_rank *));

struct scribe_process *scribe_worlds_find(struct scribe_worlds *worlds, uint32_t proc_id);
/* `parent` 0: the process was enrolled. NULL: out of memory. */
struct scribe_process *scribe_worlds_fork(struct scribe_worlds *worlds, uint32_t proc_id, uint32_t parent,
					  uint64_t now_ns);
/* The untraced parent may be a launcher. */
void scribe_worlds_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes);
/* Calls of modules (bits) may be missing. `why` is copied; may be NULL. */
void scribe_worlds_missed(struct scribe_process *p, uint64_t modules, const char *why);
/* An executable file was mapped, or SCRIBE_PASSTHROUGH. True: its data go past the kernel, and it is new here. */
bool scribe_worlds_mapped(struct scribe_process *p, const char *name);
/* "LIBRARY in N ranks, ..."; "": none. */
void scribe_log_unit_bypass(const struct scribe_log_unit *unit, char *ret, size_t cap);
/* argv: NUL-terminated strings; exe may be NULL. */
int scribe_worlds_exec(struct scribe_worlds *worlds, struct scribe_process *p, const char *argv, size_t bytes,
		       const char *exe);
/* After the whole environment was read. */
int scribe_worlds_env(struct scribe_worlds *worlds, struct scribe_process *p, const struct scribe_rankenv *env);
/* At MPI_Init. 1: the process represents this rank; 0: it belongs to another rank. */
int scribe_worlds_hello(struct scribe_worlds *worlds, struct scribe_process *p, int64_t rank, int64_t size,
			const char *pmix_namespace);
/* After its records are drained. May free p, if its unit lists too many processes. */
void scribe_worlds_exit(struct scribe_worlds *worlds, struct scribe_process *p, enum scribe_process_end kind,
			int32_t status, uint64_t now_ns);

/* Frees the ended processes of a committed unit. */
void scribe_worlds_forget(struct scribe_worlds *worlds, struct scribe_log_unit *u);

/* No process of the unit runs, and none can join any more. */
bool scribe_log_unit_is_over(struct scribe_worlds *worlds, const struct scribe_log_unit *unit);
/* In rising order; the caller frees the array. -ENOMEM. */
int scribe_log_unit_ranks(const struct scribe_log_unit *unit, struct scribe_rank ***ret_ranks, size_t *ret_n);
/* The reported size, or highest rank + 1. */
int64_t scribe_log_unit_nprocs(const struct scribe_log_unit *unit);

#endif
