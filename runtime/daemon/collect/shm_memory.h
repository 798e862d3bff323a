/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's memory (logfmt/rules/streams.h) as shm_counters.c and shm_segments.c know it. */
#ifndef RUNTIME_DAEMON_COLLECT_SHM_MEMORY_H
#define RUNTIME_DAEMON_COLLECT_SHM_MEMORY_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/state/daemon.h"

/* What the kernel has said of a place. */
struct scribe_shm_entry {
	uint32_t gen, slot, generation;
	bool file;           /* of MPI-IO */
	uint32_t unknown;    /* a closed use that was not announced when last looked at: */
	uint64_t unknown_at; /* it was before the event ring had come that far */
	uint32_t taken;      /* the use that was taken last, as the journal knows */
	struct scribe_name_entry *name;
};

/* How far a ring of operations has been read. */
struct scribe_shm_reader {
	uint64_t taken, lost;
	uint64_t last_ns;             /* start of the last one */
	uint64_t unknown, unknown_at; /* 1 + one whose place was not announced, as above */
	uint64_t judged_ns;           /* when `missed` was asked: one that never is may be of a file that counts */
	bool missed;
};

/* One memory of a process; a process has one for each program it has executed. */
struct scribe_memory {
	uint32_t id, proc_id;
	int fd;           /* -1: announced, not come yet */
	/*
	 * The same, mapped: what the program is told is written here. Never by a call: who writes into the file
	 * himself, from a page that nobody serves, holds its lock as long as he likes.
	 */
	struct scribe_shm_counters *map;
	uint64_t made_ns; /* as its process says; 0: not come yet */
	uint32_t nplaces;
	uint32_t since; /* announced since closed ones were last taken */
	uint32_t untimed; /* of its calls, known of */
	uint32_t unringed; /* of its operations, the same */
	struct scribe_shm_reader ring[SCRIBE_SHM_RINGS];
	struct scribe_shm_entry *entry;
	struct scribe_process *process;
	struct scribe_memory *next;        /* of the process */
	struct scribe_memory *after, **at; /* of all */
};

/* A memory has come. False: it is none, or its program does not let us write there; nothing is taken over. */
bool scribe_shm_open(struct scribe_memory *m, int fd, uint64_t made_ns);
void scribe_shm_close(struct scribe_memory *m);
bool scribe_shm_read(const struct scribe_memory *m, size_t at, void *to, size_t bytes);

/* Does anybody want the job's operations one by one? */
bool scribe_shm_segments_wanted(const struct scribe_job *job);
/* Programs are told: that of one memory, all of a job. */
void scribe_shm_segments_set_wanted(const struct scribe_memory *m);
void scribe_shm_segments_wish(const struct scribe_job *job);

#endif
