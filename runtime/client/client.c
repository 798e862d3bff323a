/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime's begin, after MPI_Init: find MPI, tell the daemon who this rank
 * is, duplicate the world's communicator, ask to be called at MPI_Finalize.
 * Without the environment's word it does nothing; it never prints, and keeps
 * errno. Must not know what happens at the end (finalize.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/client.h"
#include "runtime/client/coll.h"
#include "runtime/client/finalize.h"

#define HELLO_MS 2000     /* most time for the daemon's answer in MPI_Init */
#define DUP_MS 2000       /* and for the other ranks to take part in the duplication */
#define DEADLINE_MS 10000 /* at the end, when the daemon has not said */
#define DEADLINE_LIMIT_MS 120000

static int depth; /* interposed names under way: one calls another */
static struct scribe_rank_state state;
static pid_t begun; /* process that has begun, 0 none: a fork is another process */

static void at_end(void)
{
	int kept = errno;

	if (begun && begun == getpid()) {
		begun = 0;
		scribe_finalize(&state);
	}
	errno = kept;
}

/* A variable that says yes: set, and neither empty nor "0". */
static bool says_yes(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] && strcmp(v, "0") != 0;
}

/* true when the collective path may be taken; fills greeted and deadline_ms. */
static bool greet(struct scribe_rank_state *s)
{
	int64_t deadline = scribe_now_ms() + HELLO_MS;
	struct scribe_msg_hello_ok ok = { 0 };
	struct scribe_link link;
	int rc;

	s->deadline_ms = DEADLINE_MS;
	rc = scribe_link_open(&link, deadline);
	if (rc == 0)
		rc = scribe_link_say_hello(&link, &s->who, deadline);
	if (rc == 0)
		rc = scribe_link_hear_hello(&link, deadline, &ok);
	scribe_link_close(&link);
	if (rc < 0)
		return true; /* the others may have had an answer: take part, and say that this rank failed */
	s->greeted = true;
	s->whole_world = ok.flags & SCRIBE_HELLO_WHOLE_WORLD;
	if (ok.deadline_ms && ok.deadline_ms <= DEADLINE_LIMIT_MS)
		s->deadline_ms = ok.deadline_ms;
	return ok.collective != 0;
}

/*
 * Duplicate the world here, where all ranks are together and the communicators
 * that MPI can make are not used up. One that does not come in time is asked for
 * once more at the end.
 */
static bool duplicate(struct scribe_rank_state *s)
{
	struct scribe_coll c = { .mpi = &s->mpi, .deadline = scribe_now_ms() + DUP_MS };

	if (s->mpi.verbs->dup(&s->mpi, &s->dup_req) != 0)
		return false;
	s->dup_pending = scribe_coll_wait(&c, &s->dup_req) < 0;
	return s->dup_pending || s->mpi.verbs->quiet(&s->mpi) == 0;
}

static bool initialized(struct scribe_mpi *m)
{
	int flag = 0;

	return ((int (*)(int *))m->call[SCRIBE_MPI_Initialized])(&flag) == 0 && flag;
}

static void begin(void)
{
	struct scribe_rank_state *s = &state;
	const char *world = getenv("PMIX_NAMESPACE");

	if (!getenv(SCRIBE_ENV_SOCKET) || says_yes(SCRIBE_ENV_DISABLE))
		return;
	if (!scribe_mpi_find(&s->mpi) || !initialized(&s->mpi))
		return;
	if (s->mpi.verbs->rank_size(&s->mpi, &s->who.rank, &s->who.size) != 0)
		return;
	s->who.mpi = s->mpi.kind;
	if (world && strlen(world) < sizeof(s->who.world))
		memcpy(s->who.world, world, strlen(world));
	begun = getpid();
	if (!greet(s) || !duplicate(s) || s->mpi.verbs->at_finalize(&s->mpi, at_end) != 0)
		begun = 0;
}

void scribe_client_enter(void)
{
	__atomic_add_fetch(&depth, 1, __ATOMIC_RELAXED);
}

void scribe_client_leave(int ok)
{
	int kept = errno;

	if (__atomic_sub_fetch(&depth, 1, __ATOMIC_RELAXED) == 0 && ok && !begun)
		begin();
	errno = kept;
}
