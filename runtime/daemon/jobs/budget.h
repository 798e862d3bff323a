/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's tracing may cost (overhead_budget), and what is left out beyond it (docs/config.md). */
#ifndef RUNTIME_DAEMON_JOBS_BUDGET_H
#define RUNTIME_DAEMON_JOBS_BUDGET_H

#include "runtime/daemon/state/daemon.h"

void scribe_budget_tick(struct scribe_job *job);

#endif
