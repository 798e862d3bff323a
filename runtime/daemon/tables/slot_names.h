/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of slots. */
#ifndef RUNTIME_DAEMON_TABLES_SLOT_NAMES_H
#define RUNTIME_DAEMON_TABLES_SLOT_NAMES_H

#include "runtime/daemon/state/daemon.h"

void scribe_slot_name_set(struct scribe_daemon *d, struct scribe_job *job, uint32_t slot, uint32_t generation,
			  struct scribe_name_entry *name);
/* NULL: not known. */
struct scribe_name_entry *scribe_slot_name_entry(const struct scribe_daemon *d, uint32_t slot, uint32_t generation);
/* For a record of shared counters; NULL: not known. Slot 0: standard stream `generation` - 1, named as in Darshan. */
struct scribe_name_entry *scribe_counter_name_entry(struct scribe_daemon *d, const struct scribe_process *p,
						    uint32_t slot, uint32_t generation);
/* Makes space for the slot's name. False: no such slot. */
bool scribe_slot_room(struct scribe_daemon *d, uint32_t index);

/* For all further files of a process without records. NULL: out of memory. */
struct scribe_name_entry *scribe_slot_overflow_name(struct scribe_job *job, const struct scribe_process *p);
/* For a record without a name, or an overflow record. NULL: out of memory. */
struct scribe_name_entry *scribe_slot_synthetic_name(struct scribe_job *job, const struct scribe_process *p,
						     const struct scribe_slot *slot);
/* For segments of a living process. NULL: excluded, or out of memory. */
struct scribe_name_entry *scribe_slot_traced_name(struct scribe_daemon *d, const struct scribe_process *p,
						  uint32_t index, const struct scribe_slot *slot);

#endif
