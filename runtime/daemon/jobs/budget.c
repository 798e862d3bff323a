// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares once a second what the kernel programs cost with the processor time of the job's processes. Each time that
 * it is more than the budget, the next step is taken. Must not know how the cost is measured.
 */
#include "runtime/daemon/jobs/budget.h"

#include <stdio.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_build.h"

#define EVERY_NS  1000000000ull
#define CPU_LEAST 0.2 /* seconds of processor time to judge by */

#define BIT(module) (1ull << SCRIBE_MOD_##module)

static const struct {
	const char *what;
	uint64_t modules;
} steps[SCRIBE_BUDGET_STEPS] = {
	{"single operations (dxt)", BIT(DXT_POSIX) | BIT(DXT_MPIIO)},
	{"all operations", BIT(POSIX) | BIT(STDIO) | BIT(MPIIO) | BIT(H5F) | BIT(H5D) | BIT(PNETCDF_FILE) |
				   BIT(PNETCDF_VAR) | BIT(POSIX_EXT) | BIT(CACHE) | BIT(HEATMAP)},
};

static void mark(struct scribe_job *job, enum scribe_budget_step step)
{
	char why[160];

	snprintf(why, sizeof(why), "overhead_budget of %u %%: %s until %.6f s", job->config.overhead_budget,
		 steps[step].what, scribe_seconds_between(job->begun_ns, job->budget.ended_ns[step]));
	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			scribe_mark_incomplete(p, steps[step].modules, why);
}

/* Processes may have joined since the last time. */
static void end_recording(struct scribe_job *job)
{
	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next) {
			struct scribe_proc *proc = scribe_bpf_proc(job->daemon->bpf, p->index);

			if (!p->ended && proc && proc->proc_id == p->proc_id)
				__atomic_fetch_or(&proc->flags, SCRIBE_PF_DISABLED, __ATOMIC_RELAXED);
		}
	mark(job, SCRIBE_BUDGET_ALL);
}

static void take_step(struct scribe_job *job, uint64_t now_ns)
{
	enum scribe_budget_step step = SCRIBE_BUDGET_OPERATIONS;

	while (step < SCRIBE_BUDGET_STEPS && job->budget.ended_ns[step])
		step++;
	if (step == SCRIBE_BUDGET_OPERATIONS && !job->segments)
		step++;
	if (step == SCRIBE_BUDGET_STEPS)
		return;
	if (step == SCRIBE_BUDGET_OPERATIONS)
		scribe_segments_take(job->daemon, true);
	job->budget.ended_ns[step] = now_ns;
	if (step == SCRIBE_BUDGET_OPERATIONS) {
		scribe_segments_stop(job);
		mark(job, step);
	}
}

void scribe_budget_tick(struct scribe_job *job)
{
	struct scribe_budget *b = &job->budget;
	const uint64_t now_ns = scribe_now_ns();
	struct scribe_log_cost cost;
	double cpu, tracing;

	if (!job->config.overhead_budget || !job->daemon->bpf || job->state >= SCRIBE_JOB_CLOSED || now_ns < b->next_ns)
		return;
	b->next_ns = now_ns + EVERY_NS;
	cost = scribe_log_build_cost(job);
	cpu = cost.cpu - b->cpu;
	tracing = cost.tracing - b->tracing;
	if (cpu >= CPU_LEAST) {
		b->cpu = cost.cpu;
		b->tracing = cost.tracing;
		if (100 * tracing > job->config.overhead_budget * cpu)
			take_step(job, now_ns);
	}
	if (b->ended_ns[SCRIBE_BUDGET_ALL])
		end_recording(job);
}
