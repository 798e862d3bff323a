/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of slots, as events have brought them.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SLOT_NAMES_H
#define RUNTIME_DAEMON_COLLECT_SLOT_NAMES_H

#include "runtime/daemon/state/daemon.h"

/* Give the slot its name, as of that generation. */
void scribe_slot_name_set(struct scribe_daemon *d, struct scribe_job *job, uint32_t slot, uint32_t generation,
			  struct scribe_name_entry *name);
/* The name of a slot as it was at that generation; NULL: none has come. */
struct scribe_name_entry *scribe_slot_name_entry(const struct scribe_daemon *d, uint32_t slot, uint32_t generation);
/*
 * The name of the record that a program's shared counter belongs to; NULL: not known yet. Slot 0 stands for a
 * standard stream, named as Darshan names it: its number is generation - 1.
 */
struct scribe_name_entry *scribe_counter_name_entry(struct scribe_daemon *d, const struct scribe_process *p,
						    uint32_t slot, uint32_t generation);
/* Is there a slot of this number? Room for its name is made. */
bool scribe_slot_room(struct scribe_daemon *d, uint32_t index);

/* Of the files of a process that have no record of their own; NULL: memory is out. */
struct scribe_name_entry *scribe_slot_overflow_name(struct scribe_job *job, const struct scribe_process *p);
/* Of a record whose name never came, or that stands for many files; NULL: memory is out. */
struct scribe_name_entry *scribe_slot_synthetic_name(struct scribe_job *job, const struct scribe_process *p,
					       const struct scribe_slot *slot);
/* What the segments of a living process's record are told under; NULL: it counts nowhere, or memory is out. */
struct scribe_name_entry *scribe_slot_traced_name(struct scribe_daemon *d, const struct scribe_process *p,
					      uint32_t index, const struct scribe_slot *slot);

#endif
