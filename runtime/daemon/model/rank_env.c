/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads rank variables, of the launchers in the table. The environment arrives in pieces of any size.
 * Must not know of processes or worlds.
 */
#include "runtime/daemon/model/rank_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/base/proto.h"

/* X(name in the environment) */
/* clang-format off */
#define VARIABLES_OF(X) \
	X(RANK) X(WORLD_SIZE) X(LOCAL_RANK) X(NODE_RANK) X(MASTER_ADDR) X(MASTER_PORT) \
	X(TORCHELASTIC_RUN_ID) X(TORCHELASTIC_RESTART_COUNT) \
	X(HOROVOD_RANK) X(HOROVOD_SIZE) X(HOROVOD_GLOO_RENDEZVOUS_ADDR) X(HOROVOD_GLOO_RENDEZVOUS_PORT) \
	X(RRUN_RANK) X(RRUN_NRANKS) X(RRUN_ROOT_ADDR) \
	X(PALS_RANKID) X(PALS_APID) X(PMI_RANK) X(PMI_SIZE) X(PMI_JOBID) X(PMIX_RANK) X(PMIX_NAMESPACE) \
	X(OMPI_COMM_WORLD_RANK) X(OMPI_COMM_WORLD_SIZE) X(FLUX_TASK_RANK) X(FLUX_JOB_SIZE) X(FLUX_JOB_ID) \
	X(MV2_COMM_WORLD_RANK) X(MV2_COMM_WORLD_SIZE) X(MVP_COMM_WORLD_RANK) X(MVP_COMM_WORLD_SIZE) \
	X(JSM_NAMESPACE_RANK) X(JSM_NAMESPACE_SIZE) \
	X(SLURM_PROCID) X(SLURM_STEP_ID) X(SLURM_STEP_NUM_TASKS) X(SLURM_JOB_ID) \
	X(PBS_JOBID) X(LSB_JOBID) X(COBALT_JOBID) X(JOB_ID)
/* clang-format on */

enum variable {
	NO_VARIABLE, /* its value is always empty */
	DISABLE,
#define X(name) name,
	VARIABLES_OF(X)
#undef X
		VARIABLES
};

static const char *const names[VARIABLES] = {[NO_VARIABLE] = "",
					     [DISABLE] = SCRIBE_ENV_DISABLE,
#define X(name) [name] = #name,
					     VARIABLES_OF(X)
#undef X
};

_Static_assert(VARIABLES <= sizeof(((struct scribe_envreader *)0)->value) / SCRIBE_ENV_VALUE_MAX,
	       "room for every variable");

/*
 * By source. beside: one of these must be set, too. world: values that name it, with `prefix`; without the first one it
 * has no name. PMIx lacks a variable for the size; Open MPI's is used.
 */
static const struct {
	enum variable rank, size, beside[2], world[4];
	const char *prefix;
} sources[SCRIBE_RANK_SOURCES] = {
	[SCRIBE_RANK_TORCH_ELASTIC] = {RANK,
				       WORLD_SIZE,
				       {TORCHELASTIC_RUN_ID},
				       {TORCHELASTIC_RUN_ID, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RESTART_COUNT},
				       "torch"},
	[SCRIBE_RANK_TORCH] = {RANK, WORLD_SIZE, {LOCAL_RANK, MASTER_ADDR}, {MASTER_ADDR, MASTER_PORT}, "torch"},
	[SCRIBE_RANK_LIGHTNING] = {LOCAL_RANK, WORLD_SIZE, {NODE_RANK}, {MASTER_ADDR, MASTER_PORT}, "torch"},
	[SCRIBE_RANK_HOROVOD] = {HOROVOD_RANK,
				 HOROVOD_SIZE,
				 {0},
				 {HOROVOD_GLOO_RENDEZVOUS_ADDR, HOROVOD_GLOO_RENDEZVOUS_PORT},
				 "horovod"},
	[SCRIBE_RANK_RRUN] = {RRUN_RANK, RRUN_NRANKS, {0}, {RRUN_ROOT_ADDR}, "rrun"},
	[SCRIBE_RANK_PALS] = {PALS_RANKID, PMI_SIZE, {0}, {PALS_APID}, "pals"},
	[SCRIBE_RANK_PMI] = {PMI_RANK, PMI_SIZE, {0}, {PMI_JOBID}, "pmi"},
	[SCRIBE_RANK_PMIX] = {PMIX_RANK, OMPI_COMM_WORLD_SIZE, {0}, {PMIX_NAMESPACE}, "pmix"},
	[SCRIBE_RANK_OMPI] = {OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, {0}, {PMIX_NAMESPACE}, "pmix"},
	[SCRIBE_RANK_FLUX] = {FLUX_TASK_RANK, FLUX_JOB_SIZE, {0}, {FLUX_JOB_ID}, "flux"},
	[SCRIBE_RANK_MVAPICH2] = {MV2_COMM_WORLD_RANK, MV2_COMM_WORLD_SIZE, {0}, {0}, ""},
	[SCRIBE_RANK_MVAPICH] = {MVP_COMM_WORLD_RANK, MVP_COMM_WORLD_SIZE, {0}, {0}, ""},
	[SCRIBE_RANK_JSRUN] = {JSM_NAMESPACE_RANK, JSM_NAMESPACE_SIZE, {0}, {0}, ""},
	[SCRIBE_RANK_SLURM] =
		{SLURM_PROCID, SLURM_STEP_NUM_TASKS, {SLURM_STEP_ID}, {SLURM_JOB_ID, SLURM_STEP_ID}, "slurm"},
};

/* Grid Engine's JOB_ID last, because others use this name, too. */
static const enum variable job_order[] = {SLURM_JOB_ID, PBS_JOBID, LSB_JOBID, COBALT_JOBID, FLUX_JOB_ID, JOB_ID};

void scribe_envreader_begin(struct scribe_envreader *r)
{
	memset(r, 0, sizeof(*r));
	r->variable = -1;
}

static int variable_by_name(const char *name, size_t bytes)
{
	for (int i = NO_VARIABLE + 1; i < VARIABLES; i++)
		if (names[i][0] == name[0] && strlen(names[i]) == bytes && !memcmp(names[i], name, bytes))
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

static void world_name(const struct scribe_envreader *r, enum scribe_rank_source kind, struct scribe_rankenv *env)
{
	const enum variable *world = sources[kind].world;
	size_t n;

	if (!r->value[world[0]][0])
		return;
	n = (size_t)snprintf(env->world, sizeof(env->world), "%s", sources[kind].prefix);
	for (size_t i = 0; i < 4 && world[i] && n < sizeof(env->world); i++)
		n += (size_t)snprintf(env->world + n, sizeof(env->world) - n, "%c%.*s",
				      i && kind == SCRIBE_RANK_SLURM ? '.' : ':', world[1] ? 100 : 240,
				      r->value[world[i]]);
}

/* Of the variables that make a rank: equal in a process that inherits them. */
static uint64_t identity(const struct scribe_envreader *r, enum scribe_rank_source kind)
{
	uint64_t hash = kind;
	const enum variable all[] = {sources[kind].rank,      sources[kind].size,     sources[kind].beside[0],
				     sources[kind].beside[1], sources[kind].world[0], sources[kind].world[1],
				     sources[kind].world[2],  sources[kind].world[3]};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		hash = scribe_hash64(r->value[all[i]], strlen(r->value[all[i]]) + 1, hash);
	return hash ? hash : 1;
}

static bool is_set(const struct scribe_envreader *r, enum scribe_rank_source kind)
{
	const enum variable *beside = sources[kind].beside;
	const int64_t rank = number(r->value[sources[kind].rank], 0, true);
	const int64_t size = number(r->value[sources[kind].size], 1, true);

	if (rank < 0 || (beside[0] && !r->value[beside[0]][0] && !r->value[beside[1]][0]))
		return false;
	if (scribe_rank_is_framework(kind))
		return rank < size && (kind != SCRIBE_RANK_LIGHTNING || !r->value[RANK][0]);
	/* A step of one task is part of the batch script. */
	return kind != SCRIBE_RANK_SLURM || size != 1;
}

static void take(const struct scribe_envreader *r, enum scribe_rank_source kind, struct scribe_rankenv *env)
{
	env->launcher = kind;
	env->rank = number(r->value[sources[kind].rank], 0, true);
	env->size = number(r->value[sources[kind].size], 1, true);
	if (env->size >= 0 && env->rank >= env->size)
		env->size = -1; /* the size of an outer world */
	/* Of another node the number of local ranks is not known. */
	env->unknown = kind == SCRIBE_RANK_LIGHTNING && number(r->value[NODE_RANK], 0, true) != 0;
	world_name(r, kind, env);
}

void scribe_envreader_end(struct scribe_envreader *r, const uint64_t inherited[SCRIBE_RANK_SOURCES],
			  struct scribe_rankenv *ret_env)
{
	struct scribe_rankenv env = {.rank = -1, .size = -1, .jobid = -1};

	for (enum scribe_rank_source s = SCRIBE_RANK_NONE + 1; s < SCRIBE_RANK_SOURCES; s++) {
		if (!is_set(r, s))
			continue;
		env.seen[s] = identity(r, s);
		/* A framework's rank is one only in the process for which the variables were set. */
		if (env.launcher || (scribe_rank_is_framework(s) && env.seen[s] == inherited[s]))
			continue;
		take(r, s, &env);
		env.inherited = env.seen[s] == inherited[s];
	}
	for (size_t i = 0; i < sizeof(job_order) / sizeof(job_order[0]) && env.jobid < 0; i++)
		env.jobid = number(r->value[job_order[i]], 0, false);
	env.disabled = !strcmp(r->value[DISABLE], "1");
	*ret_env = env;
}
