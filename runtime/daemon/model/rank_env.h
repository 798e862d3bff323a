/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI rank, world and job of a process, from its environment at exec. */
#ifndef RUNTIME_DAEMON_MODEL_RANK_ENV_H
#define RUNTIME_DAEMON_MODEL_RANK_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

/* In order of preference. */
enum scribe_rank_source {
	SCRIBE_RANK_NONE = 0,
	SCRIBE_RANK_PMI,
	SCRIBE_RANK_PMIX,
	SCRIBE_RANK_OMPI,
	SCRIBE_RANK_FLUX,
	SCRIBE_RANK_SLURM, /* SLURM_PROCID, only with SLURM_STEP_ID */
};

struct scribe_rankenv {
	enum scribe_rank_source launcher;
	int64_t rank;                 /* -1: none */
	int64_t size;                 /* of the world; -1: unknown */
	int64_t jobid;                /* of the scheduler; -1: none */
	bool disabled;                /* IOSCRIBE_DISABLE=1: the process must not be recorded */
	char world[SCRIBE_WORLD_MAX]; /* PMIx namespace or scheduler step; or "" */
};

#define SCRIBE_ENV_NAME_MAX  40
#define SCRIBE_ENV_VALUE_MAX 256

struct scribe_envreader {
	/* By index in the table of rank_env.c. */
	char value[20][SCRIBE_ENV_VALUE_MAX];
	char name[SCRIBE_ENV_NAME_MAX]; /* current variable */
	size_t name_bytes, value_bytes;
	int variable; /* its index; -1: ignored */
	bool in_value;
};

void scribe_envreader_begin(struct scribe_envreader *r);
/* Strings "NAME=value" with their NULs, in pieces of any size. */
void scribe_envreader_feed(struct scribe_envreader *r, const char *text, size_t bytes);
void scribe_envreader_end(struct scribe_envreader *r, struct scribe_rankenv *ret_env);

#endif
