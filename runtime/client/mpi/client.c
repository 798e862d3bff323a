/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime's begin: when it is loaded (start.h), and after MPI_Init: find MPI, tell the daemon
 * who this rank is, ask to be called at MPI_Finalize. No communication with other ranks here: some
 * of them may have no runtime. Without the environment's word it does nothing; it never prints, and
 * keeps errno. Must not know what happens at the end (finalize.h). Runs on the program's thread
 * that calls MPI_Init, and in the constructor on its first thread. The state is static, as a
 * process has one MPI; it is used again at MPI_Finalize.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/mpi/client.h"
#include "runtime/client/mpi/finalize.h"
#include "runtime/client/process/start.h"

#define HELLO_MS 500 /* most time to get HELLO into the daemon's socket; its answer is not waited for */

static int depth; /* interposed names under way: one calls another */
static struct scribe_rank_state state;
static pid_t init_pid; /* process that has begun, 0 none: a fork is another process */

static void at_end(void)
{
	int kept = errno;

	if (init_pid && init_pid == getpid()) {
		init_pid = 0;
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

/* Opened for one message and closed: no descriptor stays open while the program runs. */
static void greet(const struct scribe_identity *who)
{
	int64_t deadline = scribe_msg_now_ms() + HELLO_MS;
	struct scribe_link link;

	if (scribe_link_open(&link, deadline) == 0)
		scribe_link_say_hello(&link, who, deadline);
	scribe_link_close(&link);
}

/* MPI_Init may have returned success without having done anything, in a library's own wrapper. */
static bool initialized(struct scribe_mpi *m)
{
	int flag = 0;

	return ((int (*)(int *))m->call[SCRIBE_MPI_Initialized])(&flag) == 0 && flag;
}

/* Silent on every failure: the log is then the daemon's. */
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

/*
 * The outermost interposed call begins; inner ones (MPI_Init to PMPI_Init, Fortran to C) must not.
 */
void scribe_client_leave(int ok)
{
	int kept = errno;

	if (__atomic_sub_fetch(&depth, 1, __ATOMIC_RELAXED) == 0 && ok && !init_pid)
		begin();
	errno = kept;
}

__attribute__((constructor)) static void loaded(void)
{
	scribe_client_start();
}
