// SPDX-License-Identifier: BSD-3-Clause
// Preloaded behind the runtime: stands between it and MPI, and kills or stops rank INJECT_RANK of
// MPI_COMM_WORLD behind its INJECT_AT-th call of those by which the ranks make their log (from 1; 0: none).
// INJECT_HOW: kill, stop. A rank that is stopped says so first: its pid is in INJECT_DIR/stopped. At its end
// each rank writes INJECT_DIR/took.RANK: how many such calls it made, and the milliseconds from the first to
// its last look whether one is done.
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, calls;
static double first, last;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static FILE *file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", setting("INJECT_DIR"), name);
	return fopen(path, "w");
}

static void step(void)
{
	FILE *f;

	last = now_ms();
	if (calls++ == 0) {
		first = last;
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	if (calls != atoi(setting("INJECT_AT")) || rank != atoi(setting("INJECT_RANK")))
		return;
	if (!strcmp(setting("INJECT_HOW"), "kill"))
		raise(SIGKILL);
	f = file("stopped");
	if (!f)
		return;
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	raise(SIGSTOP);
}

__attribute__((destructor)) static void tell(void)
{
	char name[32];
	FILE *f;

	if (!calls)
		return;
	snprintf(name, sizeof(name), "took.%d", rank);
	f = file(name);
	if (!f)
		return;
	fprintf(f, "%d %.0f\n", calls, last - first);
	fclose(f);
}

#define REAL(name) ((__typeof__(&PMPI_##name))(uintptr_t)dlsym(RTLD_NEXT, "PMPI_" #name))
#define BETWEEN(name, params, args) \
	int PMPI_##name params \
	{ \
		int rc = REAL(name) args; \
\
		step(); \
		return rc; \
	}

BETWEEN(Comm_idup, (MPI_Comm comm, MPI_Comm *out, MPI_Request *req), (comm, out, req))
BETWEEN(Comm_free, (MPI_Comm * comm), (comm))
BETWEEN(Ibcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *req),
	(buf, n, type, root, comm, req))
BETWEEN(Isend, (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *req),
	(buf, n, type, to, tag, comm, req))
BETWEEN(Irecv, (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *req),
	(buf, n, type, from, tag, comm, req))
BETWEEN(Iallreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *req),
	(in, out, n, type, op, comm, req))
BETWEEN(Iexscan, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *req),
	(in, out, n, type, op, comm, req))
BETWEEN(Ireduce,
	(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *req),
	(in, out, n, type, op, root, comm, req))

int PMPI_Test(MPI_Request *req, int *flag, MPI_Status *status)
{
	last = now_ms();
	return REAL(Test)(req, flag, status);
}
