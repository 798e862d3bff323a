/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the simulation share. */
#ifndef TESTS_SIM_SIM_FIBERS_H
#define TESTS_SIM_SIM_FIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/sim/sim_mpi.h"

#define SIM_STACK (64 * 1024)

struct sim_message; /* on its way, or waited for */

struct sim_fiber {
	struct scribe_mpi mpi; /* what the runtime is given */
	ucontext_t context;
	int rank;
	double clock, since; /* ns; since: of the processor, when it went on */
	bool queued, begun, done;
	uint64_t sent;
	unsigned ncollectives;
	struct sim_message *come, *wanted; /* to this rank */
};

struct sim_world {
	int n, ndone;
	struct sim_model model;
	struct sim_costs costs;
	struct sim_fiber *fiber, *running;
	struct sim_fiber **queue; /* a ring of those that may go on */
	size_t first, nqueued;
	ucontext_t context; /* of the loop */
	void (*body)(int rank, struct scribe_mpi *mpi, void *arg);
	void *arg;
	double open_server_free; /* when the server of opens is */
};

extern const struct scribe_mpi_verbs sim_verbs;

struct sim_world *sim_world(void);
struct sim_fiber *sim_fiber_of(struct scribe_mpi *m);
void sim_stop_clock(struct sim_fiber *f);
void sim_go_on(struct sim_fiber *f);
void sim_wake(struct sim_fiber *f);
void sim_park(struct scribe_mpi *m, unsigned turn);
void sim_sent(struct sim_fiber *f, uint64_t messages, uint64_t bytes);
double sim_message_ns(int from, int to, size_t bytes);
void sim_collectives_free(void);

#endif
