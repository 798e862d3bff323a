// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares once a second what the kernel programs cost (bpf/kern/cost.bpf.h) with the processor time of the job's
 * processes. Each time that it is more than the budget, the next step is taken.
 */
#include "runtime/daemon/operations/budget.h"

#include <stdio.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/operations/segments.h"

#define EVERY_NS  1000000000ull
#define CPU_LEAST 0.2 /* seconds of processor time to judge by */

#define BIT(module) (1ull << SCRIBE_MOD_##module)

static const struct {
	const char *what;
	uint64_t modules;
} steps[SCRIBE_BUDGET_STEPS] = {
	{"single operations (dxt)", BIT(DXT_POSIX) | BIT(DXT_MPIIO)},
	{"all operations", BIT(POSIX) | BIT(STDIO) | BIT(MPIIO) | BIT(H5F) | BIT(H5D) | BIT(PNETCDF_FILE) |
				   BIT(PNETCDF_VAR) | BIT(CUFILE) | BIT(POSIX_EXT) | BIT(CACHE) | BIT(HEATMAP)},
};

double scribe_cost_in_programs(const struct scribe_process_totals *t, uint32_t call_ns)
{
	return ((double)t->cost_ns + (double)t->cost_calls * call_ns) / 1e9;
}

struct scribe_cost scribe_cost_so_far(const struct scribe_job *job)
{
	const uint32_t call_ns = scribe_bpf_call_ns(job->daemon->bpf);
	struct scribe_cost sum = {(double)job->worlds.ended.cpu_ns / 1e9,
				  scribe_cost_in_programs(&job->worlds.ended, call_ns)};

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (const struct scribe_process *p = u->first; p; p = p->next) {
			const struct scribe_proc *proc = scribe_bpf_proc_of(job->daemon->bpf, p->index, p->proc_id);
			struct scribe_process_totals now;

			if (p->ended || !proc)
				continue;
			now.cpu_ns = proc->cpu_ns;
			now.cost_ns = proc->cost_ns;
			now.cost_calls = proc->cost_calls;
			sum.cpu += (double)now.cpu_ns / 1e9;
			sum.tracing += scribe_cost_in_programs(&now, call_ns);
		}
	return sum;
}

static void leave_out(struct scribe_process *p, enum scribe_budget_step step)
{
	const struct scribe_job *job = p->job;
	char why[160];

	snprintf(why, sizeof(why), "overhead_budget of %u %%: %s until %.6f s", job->config.overhead_budget,
		 steps[step].what, scribe_seconds_between(job->begun_ns, job->budget.ended_ns[step]));
	scribe_mark_incomplete(p, steps[step].modules, why);
	if (step == SCRIBE_BUDGET_ALL && !p->ended)
		scribe_bpf_disable(job->daemon->bpf, p->index, p->proc_id);
}

void scribe_budget_joined(struct scribe_process *p)
{
	for (int step = 0; step < SCRIBE_BUDGET_STEPS; step++)
		if (p->job->budget.ended_ns[step])
			leave_out(p, step);
}

static void take_step(struct scribe_job *job, uint64_t now_ns)
{
	enum scribe_budget_step step = SCRIBE_BUDGET_OPERATIONS;

	while (step < SCRIBE_BUDGET_STEPS && job->budget.ended_ns[step])
		step++;
	if (step == SCRIBE_BUDGET_OPERATIONS) {
		scribe_segments_take(job->daemon, true);
		if (!job->segments || !scribe_segments_stop(job))
			step++;
	}
	if (step == SCRIBE_BUDGET_STEPS)
		return;
	job->budget.ended_ns[step] = now_ns;
	scribe_job_journal_budget(job);
	for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			leave_out(p, step);
}

void scribe_budget_tick(struct scribe_job *job)
{
	struct scribe_budget *b = &job->budget;
	const uint64_t now_ns = scribe_now_ns();
	struct scribe_cost cost;
	double cpu, tracing;

	if (!job->config.overhead_budget || !job->daemon->bpf || job->state >= SCRIBE_JOB_CLOSED || now_ns < b->next_ns)
		return;
	b->next_ns = now_ns + EVERY_NS;
	cost = scribe_cost_so_far(job);
	cpu = cost.cpu - b->cpu;
	tracing = cost.tracing - b->tracing;
	if (cpu >= CPU_LEAST) {
		b->cpu = cost.cpu;
		b->tracing = cost.tracing;
		if (100 * tracing > job->config.overhead_budget * cpu)
			take_step(job, now_ns);
	}
}
