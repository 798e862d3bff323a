/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job's patterns leave out: names and programs go to a worker with the job
 * user's identity, its verdicts come back through the event loop. Nobody waits for
 * them but the job itself: a process's records are taken when what is known of it
 * then has been judged. No verdict means "not excluded", and stands in the ledger.
 */
#ifndef RUNTIME_DAEMON_JUDGE_H
#define RUNTIME_DAEMON_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/hand.h"

struct scribe_label;
struct scribe_process;
struct scribe_work;

/* Of a job; begins as zeros. */
struct scribe_judge {
	bool has_hand;
	struct scribe_hand hand;
	unsigned version;               /* of the rules that the worker knows */
	struct scribe_question *first, *last; /* in order; the worker has the first of them */
	unsigned sent;                  /* so many */
	uint64_t asked, answered;       /* of all times */
	unsigned lost;                  /* workers that have failed; at SCRIBE_JUDGES_MAX nobody is asked any more */
	uint64_t given_up;              /* not judged */
	struct scribe_process *ends, *ends_last; /* whose records wait, in order */
};

#define SCRIBE_JUDGES_MAX 4

/* The slot's record has this name. */
void scribe_judge_name(struct scribe_work *w, uint32_t slot, uint32_t birth, const struct scribe_label *label);
/* The process has executed a program. */
void scribe_judge_program(struct scribe_process *p);
/* Is something asked that has not been answered? */
bool scribe_judge_busy(const struct scribe_work *w);
/* Records of this process have to wait. Once told, its end comes by scribe_judge_ended. */
bool scribe_judge_keep_end(struct scribe_process *p);
/* The next of these processes of which everything has been judged; NULL none. */
struct scribe_process *scribe_judge_ended(struct scribe_work *w);
/* Go on with what is under way. */
void scribe_judge_tick(struct scribe_work *w);
/* The job is over, or its end waits no longer: what is not judged is not excluded. */
void scribe_judge_end(struct scribe_work *w);

#endif
