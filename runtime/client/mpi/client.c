/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the runtime when loaded (start.h) and after MPI_Init: sends HELLO, registers for MPI_Finalize. No
 * communication between ranks, because some may lack the runtime. Never prints, keeps errno. Static state: one
 * MPI per process. Must not know what happens at the end (finalize.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/mpi/client.h"
#include "runtime/client/mpi/finalize.h"
#include "runtime/client/process/start.h"

#define HELLO_MS 500 /* limit for sending HELLO; no answer is read */

static int depth; /* nested interposed calls */
static struct scribe_rank_state state;
static pid_t init_pid; /* 0 none; a forked child differs */

static void at_end(void)
{
	int kept = errno;

	if (init_pid && init_pid == getpid()) {
		/* A forked child must not finalize for its parent. */
		init_pid = 0;
		scribe_finalize(&state);
	}
	errno = kept;
}

static bool says_yes(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] && strcmp(v, "0") != 0;
}

static void greet(const struct scribe_identity *who)
{
	int64_t deadline = scribe_msg_now_ms() + HELLO_MS;
	struct scribe_link link;

	/* Closed at once: no descriptor may stay open while the program runs. */
	if (scribe_link_open(&link, deadline) == 0)
		scribe_link_send_hello(&link, who, deadline);
	scribe_link_close(&link);
}

/* A library's wrapper may return success without initialising. */
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
	greet(&s->who);
	if (s->mpi.verbs->at_finalize(&s->mpi, at_end) == 0)
		init_pid = getpid();
}

void scribe_client_enter(void)
{
	__atomic_add_fetch(&depth, 1, __ATOMIC_RELAXED);
}

void scribe_client_leave(int ok)
{
	int kept = errno;

	/* Only the outermost call: MPI_Init calls PMPI_Init, Fortran calls C. */
	if (__atomic_sub_fetch(&depth, 1, __ATOMIC_RELAXED) == 0 && ok && !init_pid)
		begin();
	errno = kept;
}

__attribute__((constructor)) static void loaded(void)
{
	scribe_client_start();
}
