/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world model: which process counts to which rank of which log. Units are
 * MPI worlds and, one a job, everything else ("the rest"). Pure bookkeeping,
 * driven by events; knows no kernel maps, files or sockets.
 *
 * Rules. A child starts where its parent is. A launcher (mpiexec,
 * hydra_pmi_proxy, mpirun, orted, srun, …) starts no rank itself; below it a
 * process whose environment names a rank becomes that rank's root, and all its
 * descendants count to the rank, until one of them is a launcher with ranks of
 * its own. A world is known by its PMIX namespace, its hydra control port and
 * process group, its scheduler step, else by its launcher. MPI_Init's HELLO
 * confirms or corrects.
 */
#ifndef RUNTIME_DAEMON_MODEL_MPI_WORLDS_H
#define RUNTIME_DAEMON_MODEL_MPI_WORLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/counters_own.h"
#include "logfmt/records/hashmap.h"
#include "runtime/daemon/model/rank_env.h"

struct scribe_core;    /* runtime/core/core.h */
struct scribe_job;    /* daemon.h */
struct scribe_records; /* record_set.h */
struct scribe_rank_trace; /* segments.h */
struct scribe_rank_heat;  /* heatmaps.h */

/* What the records of a process add up to. */
struct scribe_process_totals {
	uint64_t records, overflowed_files, operations, bytes_read, bytes_written;
};

struct scribe_rank {
	int64_t rank;
	uint32_t root;                  /* proc_id of the first process of the rank */
	struct scribe_records *records; /* harvested so far, since FETCH if fetched */
	struct scribe_records *fetched; /* handed to the rank at FETCH, kept until commit */
	enum {
		SCRIBE_RANK_IDLE,
		SCRIBE_RANK_HELLO,
		SCRIBE_RANK_FETCHED,
		SCRIBE_RANK_DONE,
		SCRIBE_RANK_FAILED
	} state;
	unsigned live;            /* living processes that count to it */
	struct scribe_rank_heat *heat;   /* its bytes over time, NULL none */
	struct scribe_rank_trace *trace; /* its single operations, NULL none */
	struct scribe_core *core; /* of the modules fed by plain code, NULL until needed */
};

struct scribe_log_unit {
	uint32_t id; /* 0: the rest of the job */
	char key[SCRIBE_WORLD_MAX + 16];
	int64_t nprocs;    /* size of the world; 0: not told */
	uint32_t launcher; /* proc_id of the launcher, 0: none known */
	unsigned live;     /* living processes that count to it */
	bool committed;
	bool part;               /* its log is made of parts of several nodes, and this one has one */
	bool closed;             /* no more ranks are expected */
	enum { SCRIBE_WRITER_UNDECIDED, SCRIBE_WRITER_RANKS, SCRIBE_WRITER_DAEMON } writer; /* who reduces and writes */
	struct scribe_map ranks; /* rank number -> struct scribe_rank */
	struct scribe_process *first, *last; /* its processes, in order of appearance */
	uint64_t listed;                     /* processes on that list */
	uint64_t processes;                  /* of all times */
	uint64_t failed;                     /* ended by a signal or a code other than 0 */
	struct scribe_process_totals summed_processes;       /* of processes no longer on the list */
	uint64_t nsummed_processes;
	bool has_non_launcher;       /* a process that is no launcher counts to it */
	uint64_t start_ns; /* earliest start of a process, CLOCK_MONOTONIC; 0 none */
	uint64_t end_ns;   /* latest end seen */
	uint64_t base_ns;  /* job start of the log once fixed (first FETCH), else 0 */
	int64_t jobid;     /* scheduler's, -1 none */
	uint64_t missed;   /* bits of modules of which calls may be missing */
	char why[320];     /* the first cause of that; "" not known */
	char *log_path;       /* where the log made of parts belongs, or NULL */
	char *partial;     /* path given to rank 0 for the collective log, or NULL */
	char *claimed;     /* the log's path, where an earlier daemon may have written it already; or NULL */
	struct scribe_log_unit *next;
};

struct scribe_process {
	uint32_t proc_id, parent_serial, index;
	struct scribe_job *job; /* its job; set and read by the daemon alone */
	int32_t tgid;
	uint32_t uid;
	struct scribe_log_unit *unit;
	struct scribe_rank *rank;
	uint32_t launcher;        /* proc_id of the nearest launcher above or itself; 0 none */
	bool launcher_below_rank; /* that launcher is nearer than the rank's root */
	bool is_launcher;
	bool is_root; /* first process of its rank */
	enum {
		SCRIBE_WRAP_UNKNOWN, /* it has not executed anything since it is known */
		SCRIBE_WRAP_ABSENT,
		SCRIBE_WRAP_LOADED,   /* it has mapped libioscribe-inside.so */
		SCRIBE_WRAP_UNPROBED, /* a copy of that which may not be probed */
	} wrap_state;
	uint64_t counted_inside; /* modules of libraries that it has mapped, of which libioscribe-inside.so
				    counts the calls */
	bool ended;
	bool is_excluded;     /* a program that the job leaves out */
	bool disabled;     /* asked for no record: what it does is dropped */
	bool exit_seen;    /* by the sweep, once already */
	bool drained;      /* its last records are here, whatever the kernel still holds */
	bool own_root_dir; /* its root directory and mounts are the machine's, or the daemon's */
	uint64_t root_id;  /* tells root directories with their mounts apart; 0: the machine's */
	enum scribe_process_end end_kind;
	int32_t status; /* wait status */
	uint64_t start_ns, end_ns;
	uint64_t exec_ns;  /* it executed its program then, as far as is known; 0: before it was met */
	uint64_t began_ns; /* its runtime keeps, or kept, the program waiting until then; 0: it did not */
	char comm[16];
	char *exe;   /* path or argv[0]; NULL unknown */
	char *args;  /* argv joined by spaces; NULL unknown or dropped */
	char *parent_cmdline; /* the same of the process above, where that one is not traced; NULL unknown */
	struct scribe_process_totals totals;
	struct scribe_envreader *env; /* while environment pieces come in */
	struct scribe_jobenv *jobenv; /* the same, of what may say something for the job; NULL nobody asks */
	struct scribe_process *next, *prev; /* of the unit */
	uint64_t missed; /* bits of modules of which calls of it may be missing, */
	char *why;       /* and the first cause; NULL none, or not known */
	uint32_t held;                      /* questions about it under way: its end waits for their answers */
	uint64_t waits_for;                 /* its end is kept (exclusion_check.h) until so many are judged, 0: not */
	struct scribe_process *next_end;
	bool leaves;                       /* it has ended, and its records are being taken (collect/drain.c); */
	struct scribe_draining *draining;  /* so far; NULL not begun */
};

struct scribe_worlds {
	struct scribe_map by_proc_id; /* living and still listed processes */
	struct scribe_log_unit *rest;
	struct scribe_log_unit *units; /* all, the rest first, then in order of appearance */
	uint32_t next_id;
	size_t list_limit; /* processes listed a unit */
	uint64_t living;
	struct scribe_process_totals ended; /* of all processes that have ended */
	char remote[32]; /* first program seen that starts processes elsewhere, or empty */
};

int scribe_worlds_init(struct scribe_worlds *worlds, size_t list_limit);
void scribe_worlds_clear(struct scribe_worlds *worlds, void (*free_rank)(struct scribe_rank *));

struct scribe_process *scribe_worlds_find(struct scribe_worlds *worlds, uint32_t proc_id);
/* A process has begun: enrolled (parent 0) or forked. NULL: memory is out. */
struct scribe_process *scribe_worlds_fork(struct scribe_worlds *worlds, uint32_t proc_id, uint32_t parent,
					  uint64_t now_ns);
/* It has joined by itself: the arguments of the process above it, which may be a launcher. */
void scribe_worlds_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes);
/*
 * Of modules (bits) calls of it may be missing: its log says so, whatever unit it comes to be in. `why`: for
 * people, copied; NULL not known.
 */
void scribe_worlds_missed(struct scribe_process *p, uint64_t modules, const char *why);
/* It has executed: argv as strings ending in NUL; exe may be NULL. */
int scribe_worlds_exec(struct scribe_worlds *worlds, struct scribe_process *p, const char *argv, size_t bytes,
		       const char *exe);
/* Its environment is complete. */
int scribe_worlds_env(struct scribe_worlds *worlds, struct scribe_process *p, const struct scribe_rankenv *env);
/* MPI_Init has said so. 1: the rank is this process's to speak for; 0: it counts to another rank. */
int scribe_worlds_hello(struct scribe_worlds *worlds, struct scribe_process *p, int64_t rank, int64_t size,
			const char *pmix_namespace);
/*
 * It has ended and its records are harvested. The process may be freed by this
 * call when its unit lists enough of them.
 */
void scribe_worlds_exit(struct scribe_worlds *worlds, struct scribe_process *p, enum scribe_process_end kind,
			int32_t status, uint64_t now_ns);

/* Forget the ended processes of a unit whose log is committed. */
void scribe_worlds_forget(struct scribe_worlds *worlds, struct scribe_log_unit *u);

/* Is this program one that starts ranks and does not belong to them? */
bool scribe_is_launcher(const char *program);
/* True when nobody of the unit lives and nobody will join it any more. */
bool scribe_log_unit_is_over(struct scribe_worlds *worlds, const struct scribe_log_unit *unit);
/* Ranks in rising order, into an array of the caller's to free; -ENOMEM. */
int scribe_log_unit_ranks(const struct scribe_log_unit *unit, struct scribe_rank ***ret_ranks, size_t *ret_n);
/* Processes of the log: told size, else highest rank + 1. */
int64_t scribe_log_unit_nprocs(const struct scribe_log_unit *unit);

#endif
