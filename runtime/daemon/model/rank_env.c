/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads rank variables, tested under MPICH, Open MPI and Slurm. The environment arrives in pieces of any size.
 * Must not know of processes or worlds.
 */
#include "runtime/daemon/model/rank_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum variable {
	PMI_RANK,
	PMI_SIZE,
	PMI_JOBID,
	PMIX_RANK,
	PMIX_NAMESPACE,
	OMPI_RANK,
	OMPI_SIZE,
	FLUX_RANK,
	FLUX_SIZE,
	FLUX_JOB,
	SLURM_PROCID,
	SLURM_STEP_ID,
	SLURM_TASKS,
	SLURM_JOB,
	PBS_JOB,
	LSF_JOB,
	COBALT_JOB,
	SGE_JOB,
	DISABLE,
	VARIABLES
};

static const char *const names[VARIABLES] = {
	[PMI_RANK] = "PMI_RANK",
	[PMI_SIZE] = "PMI_SIZE",
	[PMI_JOBID] = "PMI_JOBID",
	[PMIX_RANK] = "PMIX_RANK",
	[PMIX_NAMESPACE] = "PMIX_NAMESPACE",
	[OMPI_RANK] = "OMPI_COMM_WORLD_RANK",
	[OMPI_SIZE] = "OMPI_COMM_WORLD_SIZE",
	[FLUX_RANK] = "FLUX_TASK_RANK",
	[FLUX_SIZE] = "FLUX_JOB_SIZE",
	[FLUX_JOB] = "FLUX_JOB_ID",
	[SLURM_PROCID] = "SLURM_PROCID",
	[SLURM_STEP_ID] = "SLURM_STEP_ID",
	[SLURM_TASKS] = "SLURM_STEP_NUM_TASKS",
	[SLURM_JOB] = "SLURM_JOB_ID",
	[PBS_JOB] = "PBS_JOBID",
	[LSF_JOB] = "LSB_JOBID",
	[COBALT_JOB] = "COBALT_JOBID",
	[SGE_JOB] = "JOB_ID",
	[DISABLE] = SCRIBE_ENV_DISABLE,
};

_Static_assert(VARIABLES <= sizeof(((struct scribe_envreader *)0)->value) / SCRIBE_ENV_VALUE_MAX,
	       "room for every variable");

/* The first valid rank counts. PMIx lacks a variable for the size; Open MPI's is used. */
static const struct {
	enum variable rank, size;
	enum scribe_rank_source launcher;
} order[] = {
	{PMI_RANK, PMI_SIZE, SCRIBE_RANK_PMI},          {PMIX_RANK, OMPI_SIZE, SCRIBE_RANK_PMIX},
	{OMPI_RANK, OMPI_SIZE, SCRIBE_RANK_OMPI},       {FLUX_RANK, FLUX_SIZE, SCRIBE_RANK_FLUX},
	{SLURM_PROCID, SLURM_TASKS, SCRIBE_RANK_SLURM},
};

/* Grid Engine's JOB_ID last, because others use this name, too. */
static const enum variable job_order[] = {SLURM_JOB, PBS_JOB, LSF_JOB, COBALT_JOB, FLUX_JOB, SGE_JOB};

void scribe_envreader_begin(struct scribe_envreader *r)
{
	memset(r, 0, sizeof(*r));
	r->variable = -1;
}

static int variable_by_name(const char *name, size_t bytes)
{
	for (int i = 0; i < VARIABLES; i++)
		if (strlen(names[i]) == bytes && !memcmp(names[i], name, bytes))
			return i;
	return -1;
}

static void next_string(struct scribe_envreader *r)
{
	r->name_bytes = 0;
	r->value_bytes = 0;
	r->variable = -1;
	r->in_value = false;
}

void scribe_envreader_feed(struct scribe_envreader *r, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		char c = text[i];

		if (c == 0) {
			next_string(r);
		} else if (r->in_value) {
			if (r->variable < 0)
				continue;
			if (r->value_bytes < SCRIBE_ENV_VALUE_MAX - 1)
				r->value[r->variable][r->value_bytes++] = c;
		} else if (c == '=') {
			r->in_value = true;
			r->variable = variable_by_name(r->name, r->name_bytes);
			/* As getenv(): the first of two equal names counts. */
			if (r->variable >= 0 && r->value[r->variable][0])
				r->variable = -1;
			/* All names of interest are shorter, so a cut name does not match. */
		} else if (r->name_bytes < SCRIBE_ENV_NAME_MAX) {
			r->name[r->name_bytes++] = c;
		}
	}
}

/* At least `least`, or -1. `strict`: nothing may follow the number. */
static int64_t number(const char *text, int64_t least, bool strict)
{
	char *end;
	long long n;

	if (text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || n < least || (strict && *end))
		return -1;
	return n;
}

/* The same in all ranks of a world, different between worlds; "": none. */
static void world_name(const struct scribe_envreader *r, struct scribe_rankenv *env)
{
	bool pmix = env->launcher == SCRIBE_RANK_PMIX || env->launcher == SCRIBE_RANK_OMPI;

	/* Under another launcher the namespace may be that of an outer world. */
	if (pmix && r->value[PMIX_NAMESPACE][0])
		snprintf(env->world, sizeof(env->world), "pmix:%.240s", r->value[PMIX_NAMESPACE]);
	else if (env->launcher == SCRIBE_RANK_SLURM)
		snprintf(env->world, sizeof(env->world), "slurm:%.100s.%.100s", r->value[SLURM_JOB],
			 r->value[SLURM_STEP_ID]);
	else if (env->launcher == SCRIBE_RANK_FLUX && r->value[FLUX_JOB][0])
		snprintf(env->world, sizeof(env->world), "flux:%.240s", r->value[FLUX_JOB]);
	else if (env->launcher == SCRIBE_RANK_PMI && r->value[PMI_JOBID][0])
		snprintf(env->world, sizeof(env->world), "pmi:%.240s", r->value[PMI_JOBID]);
}

void scribe_envreader_end(struct scribe_envreader *r, struct scribe_rankenv *ret_env)
{
	struct scribe_rankenv env = {.rank = -1, .size = -1, .jobid = -1};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		int64_t rank = number(r->value[order[i].rank], 0, true);

		if (rank < 0)
			continue;
		if (order[i].launcher == SCRIBE_RANK_SLURM && !r->value[SLURM_STEP_ID][0])
			continue;
		/* A step of one task is part of the batch script. */
		if (order[i].launcher == SCRIBE_RANK_SLURM && number(r->value[SLURM_TASKS], 1, true) == 1)
			continue;
		env.launcher = order[i].launcher;
		env.rank = rank;
		env.size = number(r->value[order[i].size], 1, true);
		if (env.size >= 0 && rank >= env.size)
			env.size = -1; /* the size of an outer world */
		break;
	}
	for (size_t i = 0; i < sizeof(job_order) / sizeof(job_order[0]) && env.jobid < 0; i++)
		env.jobid = number(r->value[job_order[i]], 0, false);
	env.disabled = !strcmp(r->value[DISABLE], "1");
	world_name(r, &env);
	*ret_env = env;
}
