/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that programs count themselves, in memory shared with the daemon
 * (logfmt/rules/streams.h). Nothing in that memory is believed but numbers of the
 * records that the kernel has said are theirs; it is read by pread, never mapped.
 */
#ifndef RUNTIME_DAEMON_STREAMS_H
#define RUNTIME_DAEMON_STREAMS_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/daemon.h"

/* A use of a place of a memory. */
struct scribe_stream_use {
	uint32_t memory, index, gen;
	uint32_t file; /* 1: of MPI-IO */
};

/* A process hands over its memory; `fd` is the daemon's from now on. */
void scribe_streams_offered(struct scribe_daemon *d, struct scribe_process *p,
			    const struct scribe_msg_streams *m, int fd);
/* The kernel has said whose record a place of that memory is. */
void scribe_streams_announced(struct scribe_daemon *d, struct scribe_process *p,
			      const struct scribe_event *e);
/* Add what was counted to records. The process goes on with fresh numbers. 0 or -ENOMEM. */
int scribe_streams_take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records);
/* Add what a place (of MPI-IO: `file`) has counted to the records of `id`; `more` of a file only. 0 or
 * -ENOMEM. */
int scribe_streams_add(struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream *s,
		       const struct scribe_stream_more *more, struct scribe_records *records);
/* Closed streams of all processes: their places are wanted again. */
void scribe_streams_sweep(struct scribe_daemon *d);
/* It has executed another program at `when_ns`: the memory of the one before is at its end. */
int scribe_streams_replaced(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records,
			    uint64_t when_ns);
/*
 * What the journal says, read again: the kernel had said whose record a place is;
 * a use was taken, though its program may not have been told.
 */
int scribe_streams_known(struct scribe_daemon *d, struct scribe_process *p,
			 const struct scribe_stream_use *use, uint32_t slot, uint32_t birth);
void scribe_streams_known_taken(struct scribe_daemon *d, struct scribe_process *p,
				const struct scribe_stream_use *use);
/*
 * The memories of a resumed job's living processes, out of their address spaces. Before privileges
 * are given up. What a process has counted that died without a daemon is gone, and said to be.
 */
void scribe_streams_recover(struct scribe_daemon *d, struct scribe_work *w);
/* It has ended, and all was taken. */
void scribe_streams_forget(struct scribe_daemon *d, struct scribe_process *p);
/* A job is forgotten while processes of it go on. */
void scribe_streams_end_work(struct scribe_daemon *d, const struct scribe_work *w);
/* At the daemon's end. */
void scribe_streams_clear(struct scribe_daemon *d);

#endif
