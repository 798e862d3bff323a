/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's tracing costs, what it may cost (overhead_budget), and what is left out beyond it (docs/config.md). */
#ifndef RUNTIME_DAEMON_OPERATIONS_BUDGET_H
#define RUNTIME_DAEMON_OPERATIONS_BUDGET_H

#include "runtime/daemon/state/daemon.h"

/* Seconds of processor time of the job's processes so far. */
struct scribe_cost {
	double cpu, tracing; /* tracing: of this, in the kernel programs */
};
struct scribe_cost scribe_cost_so_far(const struct scribe_job *job);

/* Seconds in the kernel programs: those measured, and what calling them costs. */
double scribe_cost_in_programs(const struct scribe_process_totals *t, uint32_t call_ns);

void scribe_budget_tick(struct scribe_job *job);

/* What is left out by then is missing of this process, too. */
void scribe_budget_joined(struct scribe_process *p);

#endif
