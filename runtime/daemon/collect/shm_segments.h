/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on MPI-IO files that programs leave one by one in their memory: taken, and given to
 * the job's segments under the record that the kernel has said is the file's.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SHM_SEGMENTS_H
#define RUNTIME_DAEMON_COLLECT_SHM_SEGMENTS_H

#include "runtime/daemon/collect/shm_memory.h"

/* No operation moves more than a process can address. */
#define SCRIBE_CALL_BYTES (UINT64_C(1) << 47)

/* A memory is at hand: how far was it read by an earlier daemon? */
void scribe_shm_segments_attach(struct scribe_memory *m);
/*
 * What is new. Before the news of a place is heeded, so that what stands there is known by the old
 * one. `last`: all places have been announced that ever will be.
 */
void scribe_shm_segments_take(struct scribe_memory *m, bool last);
/* Of all programs. */
void scribe_shm_segments_take_all(struct scribe_daemon *d);

#endif
