/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank, world and job of a process, from its environment at exec. */
#ifndef RUNTIME_DAEMON_MODEL_RANK_ENV_H
#define RUNTIME_DAEMON_MODEL_RANK_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

/*
 * In order of preference. Frameworks start ranks below a process that may be an MPI rank itself; they inherit its
 * variables.
 */
enum scribe_rank_source {
	SCRIBE_RANK_NONE = 0,
	SCRIBE_RANK_TORCH_ELASTIC, /* torchrun, accelerate */
	SCRIBE_RANK_TORCH,         /* RANK and WORLD_SIZE: DeepSpeed, Spark, scripts */
	SCRIBE_RANK_LIGHTNING,     /* LOCAL_RANK; rank 0 is the parent */
	SCRIBE_RANK_HOROVOD,
	SCRIBE_RANK_RRUN,
	SCRIBE_RANK_FRAMEWORKS, /* the number of these */
	SCRIBE_RANK_PALS = SCRIBE_RANK_FRAMEWORKS,
	SCRIBE_RANK_PMI,
	SCRIBE_RANK_PMIX,
	SCRIBE_RANK_OMPI,
	SCRIBE_RANK_FLUX,
	SCRIBE_RANK_MVAPICH2,
	SCRIBE_RANK_MVAPICH,
	SCRIBE_RANK_JSRUN,
	SCRIBE_RANK_SLURM, /* SLURM_PROCID, only with SLURM_STEP_ID */
	SCRIBE_RANK_SOURCES,
};

static inline bool scribe_rank_is_framework(enum scribe_rank_source s)
{
	return s > SCRIBE_RANK_NONE && s < SCRIBE_RANK_FRAMEWORKS;
}

struct scribe_rankenv {
	enum scribe_rank_source launcher;
	int64_t rank;                       /* -1: none */
	int64_t size;                       /* of the world; -1: unknown */
	int64_t jobid;                      /* of the scheduler; -1: none */
	bool disabled;                      /* IOSCRIBE_DISABLE=1: the process must not be recorded */
	bool inherited;                     /* an ancestor had the same values */
	bool unknown;                       /* it is a rank, but its number cannot be told */
	char world[SCRIBE_WORLD_MAX];       /* the same in all ranks of a world and in no other; or "" */
	uint64_t seen[SCRIBE_RANK_SOURCES]; /* hashes of the variables; 0: not set */
};

#define SCRIBE_ENV_NAME_MAX  40
#define SCRIBE_ENV_VALUE_MAX 256

struct scribe_envreader {
	/* By index in the table of rank_env.c. */
	char value[48][SCRIBE_ENV_VALUE_MAX];
	char name[SCRIBE_ENV_NAME_MAX]; /* current variable */
	size_t name_bytes, value_bytes;
	int variable; /* its index; -1: ignored */
	bool in_value;
};

void scribe_envreader_begin(struct scribe_envreader *r);
/* Strings "NAME=value" with their NULs, in pieces of any size. */
void scribe_envreader_feed(struct scribe_envreader *r, const char *text, size_t bytes);
/* `inherited`: `seen` of the parent. */
void scribe_envreader_end(struct scribe_envreader *r, const uint64_t inherited[SCRIBE_RANK_SOURCES],
			  struct scribe_rankenv *ret_env);

#endif
