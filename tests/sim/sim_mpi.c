// SPDX-License-Identifier: BSD-3-Clause
// Fibers that stand for ranks, and the verbs of the runtime between them.
#include "tests/sim/sim_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "tests/sim/sim_fibers.h"

static struct sim_world world;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct sim_world *sim_world(void)
{
	return &world;
}

struct sim_fiber *sim_fiber_of(struct scribe_mpi *m)
{
	return (struct sim_fiber *)(void *)((char *)m - offsetof(struct sim_fiber, mpi));
}

/* The rank's own work since it went on counts; what the simulation does then does not. */
void sim_stop_clock(struct sim_fiber *f)
{
	f->clock += cpu_ns() - f->since;
}

void sim_go_on(struct sim_fiber *f)
{
	f->since = cpu_ns();
}

void sim_wake(struct sim_fiber *f)
{
	if (f->queued)
		return;
	f->queued = true;
	world.queue[(world.first + world.nqueued++) % (size_t)world.n] = f;
}

void sim_begin(struct scribe_mpi *mpi)
{
	struct sim_fiber *f = sim_fiber_of(mpi);

	f->clock = 0;
	f->begun = true;
	sim_go_on(f);
}

double sim_clock(struct scribe_mpi *mpi)
{
	struct sim_fiber *f = sim_fiber_of(mpi);

	sim_stop_clock(f);
	sim_go_on(f);
	return f->clock;
}

const struct sim_costs *sim_costs(void)
{
	return &world.costs;
}

void sim_sent(struct sim_fiber *f, uint64_t messages, uint64_t bytes)
{
	world.costs.messages += messages;
	world.costs.bytes += bytes;
	f->sent += bytes;
	if (f->sent > world.costs.rank_bytes_most)
		world.costs.rank_bytes_most = f->sent;
}

double sim_message_ns(int from, int to, size_t bytes)
{
	const struct sim_model *m = &world.model;
	bool near = from / m->ranks_node == to / m->ranks_node;
	int card = world.n < m->ranks_node ? world.n : m->ranks_node;

	return near ? m->near_alpha_ns + (double)bytes * m->near_ns_byte
		    : m->far_alpha_ns + (double)bytes * m->far_ns_byte * card;
}

void sim_park(struct scribe_mpi *m, unsigned turn)
{
	struct sim_fiber *f = sim_fiber_of(m);

	(void)turn;
	sim_stop_clock(f);
	swapcontext(&f->context, &world.context);
	sim_go_on(f);
}

static void run_fiber(void)
{
	struct sim_fiber *f = world.running;

	sim_go_on(f);
	world.body(f->rank, &f->mpi, world.arg);
	f->done = true;
	world.ndone++;
}

static void begin_fiber(struct sim_fiber *f, int rank, char *stack)
{
	f->rank = rank;
	f->mpi.verbs = &sim_verbs;
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = SIM_STACK;
	f->context.uc_link = &world.context;
	makecontext(&f->context, run_fiber, 0);
}

/* All ranks begin; in the order of ranks for seed 0. */
static void begin_all(char *stacks, unsigned seed)
{
	srand(seed);
	for (int i = 0; i < world.n; i++)
		begin_fiber(&world.fiber[i], i, stacks + (size_t)i * SIM_STACK);
	for (int i = 0; i < world.n; i++)
		sim_wake(&world.fiber[i]);
	for (int i = world.n - 1; seed && i > 0; i--) {
		int k = rand() % (i + 1);
		struct sim_fiber *kept = world.queue[i];

		world.queue[i] = world.queue[k];
		world.queue[k] = kept;
	}
}

int sim_run(int ranks, const struct sim_model *model, unsigned seed,
	    void (*body)(int rank, struct scribe_mpi *mpi, void *arg), void *arg)
{
	size_t bytes = (size_t)ranks * SIM_STACK;
	/* one mapping: as many as there are ranks would be too many for a process */
	char *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int rc;

	world = (struct sim_world){.n = ranks, .model = *model, .body = body, .arg = arg};
	world.fiber = calloc((size_t)ranks, sizeof(*world.fiber));
	world.queue = calloc((size_t)ranks, sizeof(struct sim_fiber *));
	if (stacks == MAP_FAILED || !world.fiber || !world.queue) {
		fprintf(stderr, "sim: no memory for %d ranks\n", ranks);
		exit(1);
	}
	begin_all(stacks, seed);
	while (world.nqueued) {
		struct sim_fiber *f = world.queue[world.first];

		world.first = (world.first + 1) % (size_t)ranks;
		world.nqueued--;
		f->queued = false;
		if (f->done) /* woken by what it did not wait for */
			continue;
		world.running = f;
		swapcontext(&world.context, &f->context);
	}
	rc = world.ndone == ranks ? 0 : -1;
	sim_collectives_free();
	munmap(stacks, bytes);
	free(world.fiber);
	free(world.queue);
	world.fiber = NULL;
	world.queue = NULL;
	return rc;
}
