/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts stream calls and MPI-IO data calls in the program, without locks and system calls on the hot path.
 * Nothing fails: otherwise the kernel side counts (a stream's system calls, a file's probed calls). errno is
 * kept.
 */
#ifndef RUNTIME_CLIENT_WRAP_STREAMS_H
#define RUNTIME_CLIENT_WRAP_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"
#include "runtime/client/wrap/announce.h"
#include "runtime/client/wrap/clock.h"
#include "runtime/client/wrap/file_views.h"
#include "runtime/client/wrap/seccomp.h"

/* Per thread. */
struct scribe_stream_cache {
	uint64_t version;
	const void *f;
	struct scribe_counter_slot *stream; /* NULL: not counted here */
	const uint32_t *taken;
	uint32_t gen;
	struct scribe_file_view view;
};

/* Wiped by the kernel in a forked child. */
struct scribe_stream_state {
	uint64_t version; /* changes when caches may be wrong; 0 in a new process */
	uint64_t born;    /* first `version` */
	uint64_t lock;    /* holder, 0 none */
	uint32_t next;
	uint32_t standard;                  /* bits: open counted */
	struct scribe_shm_counters *memory; /* NULL: none */
	struct scribe_cursors *cursors;
	uint64_t groups;   /* groups of 64 entries ever used; others' pages are untouched */
	uint64_t nameless; /* files without a seen open: each has a separate cursor */
	struct scribe_stream_entry {
		const void *f; /* NULL: empty */
		uint64_t name; /* MPI-IO: key of its cursor */
		uint32_t index, gen;
		bool file; /* MPI-IO */
		struct scribe_file_view view;
		bool placed, counted, append, standard;
	} entry[4096];
};

extern struct scribe_stream_state *scribe_stream_state;
extern __thread struct scribe_stream_cache scribe_stream_cache
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* By the table; creates memory and slot on demand. */
struct scribe_counter_slot *scribe_stream_find(FILE *f);
/* Reports a file's slot through the kernel. */
typedef void (*scribe_file_announce_fn)(const void *file, uint32_t memory, uint32_t index, uint32_t gen);
/* Also fills the thread's cache; announces a new slot. */
struct scribe_counter_slot *scribe_file_find(const void *file, struct scribe_stream_cache *c,
					     scribe_file_announce_fn announce);
/* Opened under a name with this hash; same names are one file. */
void scribe_file_opened(const void *file, uint64_t name, const struct scribe_file_view *view);
void scribe_file_viewed(const void *file, const struct scribe_file_view *view);

/* NULL: not counted here. */
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

/* Another thread's slot is changed atomically. */
bool scribe_stream_mine(const struct scribe_counter_slot *s);
/* Around changes of the owner's shard: while its lock is odd, the daemon retries. */
static inline void scribe_stream_mark(struct scribe_counter_slot *s)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint32_t *)&s->shard[SCRIBE_SHARD_OWNER].lock += 1;
	__asm__ volatile("" ::: "memory");
}

static inline void scribe_stream_untimed(void)
{
	if (__builtin_expect(scribe_seccomp & SCRIBE_SECCOMP_CALLS, 0) && scribe_clock_stands())
		__atomic_fetch_add(&scribe_stream_state->memory->untimed, 1, __ATOMIC_RELAXED);
}

static inline void scribe_stream_unsized(void)
{
	__atomic_fetch_add(&scribe_stream_state->memory->unsized, 1, __ATOMIC_RELAXED);
}

/* Never had a second thread. */
bool scribe_stream_alone(void);
/* `start` from scribe_stream_now. */
void scribe_stream_data(struct scribe_counter_slot *s, unsigned op, uint64_t bytes, uint64_t start);
/* After ungetc and the like. */
void scribe_stream_back(struct scribe_counter_slot *s, int64_t bytes);
/* After success; looks up the position. */
void scribe_stream_seek(struct scribe_counter_slot *s, FILE *f, uint64_t start);
/* After success. */
void scribe_stream_flush(struct scribe_counter_slot *s, FILE *f, uint64_t start);
/* Before a close or reopen. */
void scribe_stream_forget(const void *f);
/* From a descriptor. */
void scribe_stream_made(FILE *f);
/* A standard stream without data so far. */
bool scribe_stream_idle(const FILE *f);
#endif
