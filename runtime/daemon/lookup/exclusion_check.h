/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of an ended process wait for pending checks. What is not checked is not excluded, and counted in the ledger.
 */
#ifndef RUNTIME_DAEMON_LOOKUP_EXCLUSION_CHECK_H
#define RUNTIME_DAEMON_LOOKUP_EXCLUSION_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/state/job.h"

struct scribe_name_entry;
struct scribe_process;

#define SCRIBE_EXCLUSION_CHECKS_MAX 2 /* failed workers per job; then checks end */

void scribe_exclusion_check_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
				 const struct scribe_name_entry *name);
void scribe_exclusion_check_program(struct scribe_process *p);
bool scribe_exclusion_check_busy(const struct scribe_job *job);
/* True: records wait until scribe_exclusion_check_ended() returns the process. */
bool scribe_exclusion_check_keep_end(struct scribe_process *p);
/* The next of these processes for which all checks are done; NULL: none. */
struct scribe_process *scribe_exclusion_check_ended(struct scribe_job *job);
void scribe_exclusion_check_tick(struct scribe_job *job);
/* Ends all checks: nothing further is excluded, and no process waits. */
void scribe_exclusion_check_end(struct scribe_job *job);

#endif
