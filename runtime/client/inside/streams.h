/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting the calls of streams, and the data calls of MPI-IO files, inside the
 * program: finding the place of a stream or file, and what a call does to it. The hot
 * path takes no lock and makes no system call. Nothing here fails: what cannot be
 * counted inside is left to the kernel side, which counts the system calls of a stream
 * and probes the calls of a file. errno is kept.
 */
#ifndef RUNTIME_CLIENT_INSIDE_STREAMS_H
#define RUNTIME_CLIENT_INSIDE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"

/* The C library's stream; <stdio.h> would bring macros and inline forms of what is defined here. */
typedef struct _IO_FILE FILE;

/* What this thread used last. */
struct scribe_stream_cache {
	uint64_t version;
	const void *f;
	struct scribe_stream *stream; /* NULL: not counted here */
	const uint32_t *taken;
	uint32_t gen;
};

/* Everything that a forked child must not take for its own: wiped in it by the kernel. */
struct scribe_stream_state {
	uint64_t version; /* changes whenever a cached answer may be wrong; 0 in a new process */
	uint64_t born;    /* as version was first */
	uint32_t lock, next;
	uint32_t uncovered;            /* 1: the MPI library's probes have been dealt with */
	struct scribe_streams *memory; /* NULL: none could be made */
	struct scribe_cursors *cursors;
	uint64_t nameless; /* files whose opening was not seen: each has a cursor of its own */
	struct scribe_stream_entry {
		const void *f; /* NULL: empty */
		uint64_t name; /* of an MPI-IO file: what its cursor is found by */
		uint32_t index, gen;
		bool file; /* of MPI-IO */
		bool placed, counted, append;
	} entry[4096];
};

extern volatile unsigned short ioscribe_stream_on; /* raised by the kernel while the site is probed */
extern struct scribe_stream_state *scribe_stream_state;
extern __thread struct scribe_stream_cache scribe_stream_cache
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Memory of a new process; NULL: the daemon cannot have it. */
struct scribe_streams *scribe_streams_make(uint64_t id, uint64_t now);
/* The same by the table; makes memory and place when needed. */
struct scribe_stream *scribe_stream_find(FILE *f);
/* The place of a MPI_File, and what this thread is to remember of it. */
struct scribe_stream *scribe_file_find(const void *file, struct scribe_stream_cache *c);
/* A MPI_File has been opened under a name of that hash: all that were are one file. */
void scribe_file_opened(const void *file, uint64_t name);
/* Hash of a path as MPI_File_open takes it. */
uint64_t scribe_file_name(const char *path);
/* The cursor of a file of this process, which lasts as long as the process; NULL: no memory. */
struct scribe_cursor *scribe_cursor_of(struct scribe_stream_state *s, uint64_t key);
/* What the daemon gets to know of a file's place: the kernel's word. */
void scribe_file_announce(const void *file, uint32_t memory, uint32_t index, uint32_t gen);

/* The place of a stream, NULL: not counted inside. */
static inline struct scribe_stream *scribe_stream_of(FILE *f)
{
	const struct scribe_stream_cache *c = &scribe_stream_cache;

	if (!ioscribe_stream_on || !f)
		return NULL;
	if (c->f == f && c->version == scribe_stream_state->version && c->version &&
	    (!c->stream || *(volatile const uint32_t *)c->taken != c->gen))
		return c->stream;
	return scribe_stream_find(f);
}

static inline struct scribe_cursor *scribe_stream_cursor(const struct scribe_stream *s)
{
	return (struct scribe_cursor *)(uintptr_t)s->cursor;
}

/* Is the place this thread's? Another's is changed atomically. */
bool scribe_stream_mine(const struct scribe_stream *s);
/* Before and after a change of the owner's part: the daemon looks again while its lock is odd. */
static inline void scribe_stream_mark(struct scribe_stream *s)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint32_t *)&s->part[SCRIBE_PART_OWN].lock += 1;
	__asm__ volatile("" ::: "memory");
}

/* Has the process never had a second thread? */
bool scribe_stream_alone(void);
/* CLOCK_MONOTONIC, by the processor's counter where that is steady. */
uint64_t scribe_stream_now(void);
/* A read or write that moved bytes. `start` from scribe_stream_now. */
void scribe_stream_data(struct scribe_stream *s, unsigned op, uint64_t bytes, uint64_t start);
/* The program is so many bytes further in front. */
void scribe_stream_back(struct scribe_stream *s, int64_t bytes);
/* A seek that succeeded; the position is asked for. */
void scribe_stream_seek(struct scribe_stream *s, FILE *f, uint64_t start);
/* A flush that succeeded. */
void scribe_stream_flush(struct scribe_stream *s, FILE *f, uint64_t start);
/* The stream is about to be closed or to become another one. */
void scribe_stream_forget(const void *f);
/* How far the bytes of one go, before it is closed or after it was flushed. */
void scribe_stream_ends(struct scribe_streams *m, const struct scribe_stream_entry *e, bool closing);
/* A stream for appending is about to be opened. */
void scribe_stream_appends(void);
/* Position of the program in the stream; negative: none. */
int64_t scribe_stream_tell(FILE *f);

#endif
