/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PROGRAMS_SHM_RECORDS_H
#define RUNTIME_DAEMON_PROGRAMS_SHM_RECORDS_H

#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"

/* Adds the counts of an index (`file`: MPI-IO). 0 or -ENOMEM. */
int scribe_shm_counters_add(struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
			    struct scribe_records *records);
/* Sums for live views. */
void scribe_shm_counters_sum(const struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
			     struct scribe_live_record *ret_sum);

#endif
