/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting the calls of streams, and the data calls of MPI-IO files, inside the
 * program: finding the place of a stream or file, and what a call does to it. The hot
 * path takes no lock and makes no system call. Nothing here fails: what cannot be
 * counted inside is left to the kernel side, which counts the system calls of a stream
 * and probes the calls of a file. errno is kept.
 */
#ifndef RUNTIME_CLIENT_WRAP_STREAMS_H
#define RUNTIME_CLIENT_WRAP_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"
#include "runtime/client/wrap/clock.h"
#include "runtime/client/wrap/file_views.h"
#include "runtime/client/wrap/seal.h"
#include "runtime/client/wrap/announce.h"

/* What this thread used last. */
struct scribe_stream_cache {
	uint64_t version;
	const void *f;
	struct scribe_counter_slot *stream; /* NULL: not counted here */
	const uint32_t *taken;
	uint32_t gen;
	struct scribe_file_view view;
};

/* Everything that a forked child must not take for its own: wiped in it by the kernel. */
struct scribe_stream_state {
	uint64_t version; /* changes whenever a cached answer may be wrong; 0 in a new process */
	uint64_t born;    /* as version was first */
	uint64_t lock;    /* the thread that holds it, 0 none */
	uint32_t next;
	uint32_t standard;             /* standard streams whose opening has been counted, bits */
	struct scribe_shm_counters *memory; /* NULL: none could be made */
	struct scribe_cursors *cursors;
	uint64_t groups;   /* of 64 entries, bits: those that ever had one; the pages of others are not touched */
	uint64_t nameless; /* files whose opening was not seen: each has a cursor of its own */
	struct scribe_stream_entry {
		const void *f; /* NULL: empty */
		uint64_t name; /* of an MPI-IO file: what its cursor is found by */
		uint32_t index, gen;
		bool file; /* of MPI-IO */
		struct scribe_file_view view;
		bool placed, counted, append, standard;
	} entry[4096];
};

extern struct scribe_stream_state *scribe_stream_state;
extern __thread struct scribe_stream_cache scribe_stream_cache
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same by the table; makes memory and place when needed. */
struct scribe_counter_slot *scribe_stream_find(FILE *f);
/* What the daemon gets to know of a file's place: the kernel's word. */
typedef void (*scribe_file_announce_fn)(const void *file, uint32_t memory, uint32_t index, uint32_t gen);
/* The place of a MPI_File, and what this thread is to remember of it; announced when it is a new one. */
struct scribe_counter_slot *scribe_file_find(const void *file, struct scribe_stream_cache *c,
					     scribe_file_announce_fn announce);
/* A MPI_File has been opened under a name of that hash: all that were are one file. */
void scribe_file_opened(const void *file, uint64_t name, const struct scribe_file_view *view);
/* It has another view from now on. */
void scribe_file_viewed(const void *file, const struct scribe_file_view *view);

/* The place of a stream, NULL: not counted inside. */
static inline struct scribe_counter_slot *scribe_stream_of(FILE *f)
{
	const struct scribe_stream_cache *c = &scribe_stream_cache;

	if (!scribe_shm_counters_on || !f)
		return NULL;
	if (c->f == f && c->version == scribe_stream_state->version && c->version &&
	    (!c->stream || *(volatile const uint32_t *)c->taken != c->gen))
		return c->stream;
	return scribe_stream_find(f);
}

static inline struct scribe_cursor *scribe_stream_cursor(const struct scribe_counter_slot *s)
{
	return (struct scribe_cursor *)(uintptr_t)s->cursor;
}

/* Is the place this thread's? Another's is changed atomically. */
bool scribe_stream_mine(const struct scribe_counter_slot *s);
/* Before and after a change of the owner's shard: the daemon looks again while its lock is odd. */
static inline void scribe_stream_mark(struct scribe_counter_slot *s)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint32_t *)&s->shard[SCRIBE_SHARD_OWNER].lock += 1;
	__asm__ volatile("" ::: "memory");
}

/* A call is counted: it has no time where there is no clock. */
static inline void scribe_stream_untimed(void)
{
	if (__builtin_expect(scribe_seal & SCRIBE_SEAL_CALLS, 0) && scribe_clock_stands())
		__atomic_fetch_add(&scribe_stream_state->memory->untimed, 1, __ATOMIC_RELAXED);
}

/* A call cannot be counted: nobody can be asked what it moved. */
static inline void scribe_stream_unsized(void)
{
	__atomic_fetch_add(&scribe_stream_state->memory->unsized, 1, __ATOMIC_RELAXED);
}

/* Has the process never had a second thread? */
bool scribe_stream_alone(void);
/* A read or write that moved bytes. `start` from scribe_stream_now. */
void scribe_stream_data(struct scribe_counter_slot *s, unsigned op, uint64_t bytes, uint64_t start);
/* The program is so many bytes further in front. */
void scribe_stream_back(struct scribe_counter_slot *s, int64_t bytes);
/* A seek that succeeded; the position is asked for. */
void scribe_stream_seek(struct scribe_counter_slot *s, FILE *f, uint64_t start);
/* A flush that succeeded. */
void scribe_stream_flush(struct scribe_counter_slot *s, FILE *f, uint64_t start);
/* The stream is about to be closed or to become another one. */
void scribe_stream_forget(const void *f);
/* One was made of a descriptor. */
void scribe_stream_made(FILE *f);
/* A standard stream that has moved nothing yet. */
bool scribe_stream_idle(const FILE *f);
#endif
