/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PROGRAMS_SHM_MEMORY_H
#define RUNTIME_DAEMON_PROGRAMS_SHM_MEMORY_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/state/daemon.h"

/* Record of an index, from the kernel. */
struct scribe_shm_entry {
	uint32_t gen, slot, generation;
	bool file;           /* MPI-IO */
	uint32_t unknown;    /* closed use without an event, */
	uint64_t unknown_at; /* and the end of the event ring when it was seen */
	uint32_t taken;      /* in the journal */
	struct scribe_name_entry *name;
};

struct scribe_shm_reader {
	uint64_t taken, lost;
	uint64_t last_ns;             /* start of the last operation */
	uint64_t unknown, unknown_at; /* 1 + position of one without an event */
	uint64_t judged_ns;           /* time of `missed` */
	bool missed;
};

/* One per program that a process has executed. */
struct scribe_memory {
	uint32_t id, proc_id;
	int fd; /* -1: not available yet */
	/*
	 * Written only through this mapping: a program that writes to the file from a page that is not served holds
	 * the file's lock, and would block a system call.
	 */
	struct scribe_shm_counters *map;
	uint64_t made_ns; /* from the process */
	uint32_t nplaces;
	uint32_t since;    /* events since closed uses were taken */
	uint32_t untimed;  /* last read */
	uint32_t unringed; /* last read */
	struct scribe_shm_reader ring[SCRIBE_SHM_RINGS];
	struct scribe_shm_entry *entry;
	struct scribe_process *process;
	struct scribe_memory *next;        /* of the process */
	struct scribe_memory *after, **at; /* of all processes */
};

/* Takes over `fd` only on success. */
bool scribe_shm_open(struct scribe_memory *m, int fd, uint64_t made_ns);
void scribe_shm_close(struct scribe_memory *m);
bool scribe_shm_read(const struct scribe_memory *m, size_t at, void *to, size_t bytes);

bool scribe_shm_segments_wanted(const struct scribe_job *job);
/* Set the flag that programs read: of one memory, of a job. */
void scribe_shm_segments_set_wanted(const struct scribe_memory *m);
void scribe_shm_segments_wish(const struct scribe_job *job);

#endif
