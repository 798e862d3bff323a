/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job's patterns leave out: names and programs go to a worker with the job
 * user's identity, its verdicts come back through the event loop. Nobody waits for
 * them but the job itself: a process's records are taken when what is known of it
 * then has been judged. No verdict means "not excluded", and stands in the ledger.
 */
#ifndef RUNTIME_DAEMON_LOOKUP_EXCLUSION_CHECK_H
#define RUNTIME_DAEMON_LOOKUP_EXCLUSION_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/state/job.h"

struct scribe_name_entry;
struct scribe_process;


#define SCRIBE_EXCLUSION_CHECKS_MAX 2 /* workers of a job that may be lost: then nothing more is matched */

/* The slot's record has this name. */
void scribe_exclusion_check_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
				 const struct scribe_name_entry *name);
/* The process has executed a program. */
void scribe_exclusion_check_program(struct scribe_process *p);
/* Is something asked that has not been answered? */
bool scribe_exclusion_check_busy(const struct scribe_job *job);
/* Records of this process have to wait. Once told, its end comes by scribe_exclusion_check_ended. */
bool scribe_exclusion_check_keep_end(struct scribe_process *p);
/* The next of these processes of which everything has been judged; NULL none. */
struct scribe_process *scribe_exclusion_check_ended(struct scribe_job *job);
/* Go on with what is under way. */
void scribe_exclusion_check_tick(struct scribe_job *job);
/* The job is over, or its end waits no longer: what is not judged is not excluded. */
void scribe_exclusion_check_end(struct scribe_job *job);

#endif
