/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what programs have counted themselves to records.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SHM_RECORDS_H
#define RUNTIME_DAEMON_COLLECT_SHM_RECORDS_H

#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"

/* Add what a place (of MPI-IO: `file`) has counted to the records of `id`. 0 or -ENOMEM. */
int scribe_shm_counters_add(struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
		       struct scribe_records *records);
/* The sums of a place alone. */
void scribe_shm_counters_sum(const struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
			     struct scribe_live_record *ret_sum);

#endif
