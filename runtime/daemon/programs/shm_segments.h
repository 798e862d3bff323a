/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO for the job's segments, streams for publishers. */
#ifndef RUNTIME_DAEMON_PROGRAMS_SHM_SEGMENTS_H
#define RUNTIME_DAEMON_PROGRAMS_SHM_SEGMENTS_H

#include "runtime/daemon/programs/shm_memory.h"

/* More than a process can address. */
#define SCRIBE_CALL_BYTES (UINT64_C(1) << 47)

/* A new memory: continues where an earlier daemon has stopped reading. */
void scribe_shm_segments_attach(struct scribe_memory *m);
/* To be called before an event changes the record of an index. `last`: no further index will be reported. */
void scribe_shm_segments_take(struct scribe_memory *m, bool last);
void scribe_shm_segments_take_all(struct scribe_daemon *d);

#endif
