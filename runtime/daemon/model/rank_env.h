/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process's environment at exec tells of its MPI rank, world and job.
 * Fed in pieces as they come from the kernel; nothing else of it is kept.
 */
#ifndef RUNTIME_DAEMON_MODEL_RANK_ENV_H
#define RUNTIME_DAEMON_MODEL_RANK_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

/* Variables looked at, in the order of preference for the rank. */
enum scribe_rank_source {
	SCRIBE_RANK_NONE = 0,
	SCRIBE_RANK_PMI,
	SCRIBE_RANK_PMIX,
	SCRIBE_RANK_OMPI,
	SCRIBE_RANK_FLUX,
	SCRIBE_RANK_SLURM, /* SLURM_PROCID, only where SLURM_STEP_ID is set too */
};

struct scribe_rankenv {
	enum scribe_rank_source launcher;
	int64_t rank;                 /* -1: none */
	int64_t size;                 /* of the world, -1: unknown */
	int64_t jobid;                /* the scheduler's number, -1: none */
	bool disabled;                /* IOSCRIBE_DISABLE=1: this process wants no record */
	char world[SCRIBE_WORLD_MAX]; /* PMIX namespace or scheduler's step, or empty */
};

#define SCRIBE_ENV_NAME_MAX  40
#define SCRIBE_ENV_VALUE_MAX 256

struct scribe_envreader {
	/* the values seen so far, by variable; index in the table of rank_env.c */
	char value[20][SCRIBE_ENV_VALUE_MAX];
	char name[SCRIBE_ENV_NAME_MAX]; /* of the variable being read */
	size_t name_bytes, value_bytes;
	int variable; /* being read: index, or -1 not one of ours */
	bool in_value;
};

void scribe_envreader_begin(struct scribe_envreader *r);
/* Strings "NAME=value", each ending in NUL, cut anywhere. */
void scribe_envreader_feed(struct scribe_envreader *r, const char *text, size_t bytes);
void scribe_envreader_end(struct scribe_envreader *r, struct scribe_rankenv *ret_env);

#endif
