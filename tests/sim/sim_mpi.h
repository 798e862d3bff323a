/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of an MPI world inside one process: each is a fiber with its own struct
 * scribe_mpi, whose verbs move bytes between fibers and a clock of the rank. The model,
 * stated in docs/measurements.md:
 *
 *   message     arrives alpha + bytes / bandwidth after it was sent; ranks of one node share
 *               its network card, and all of them send at once
 *   collective  log2(ranks) messages one behind the other after the last rank has come
 *               (reduce: with a join of the rank's element each; its leaves go on at once)
 *   processor   what the rank's own code takes here, as it is measured
 *   files       an open waits its turn at one server; a write takes the slower of a
 *               client's rate and its share of the file system's
 */
#ifndef TESTS_SIM_SIM_MPI_H
#define TESTS_SIM_SIM_MPI_H

#include <stdint.h>

#include "runtime/client/mpi/mpi_abi.h"

struct sim_model {
	double near_alpha_ns, near_ns_byte; /* between ranks of a node */
	double far_alpha_ns, far_ns_byte;   /* between nodes, for a card that one rank uses */
	int ranks_node;
	double open_ns, open_server_ns; /* a client's wait, and the server's work, for one open */
	double write_ns;                /* of each write */
	double client_ns_byte, fs_ns_byte;
};

struct sim_costs {
	uint64_t messages, bytes; /* of all ranks; those of collectives by the model's algorithm */
	uint64_t rank_bytes_most; /* sent by one rank */
	uint64_t opens, writes, written;
};

/*
 * Run `ranks` fibers of body(rank, mpi, arg), seeded: they take turns in another order for another seed.
 * Returns 0, or -1 when all that were left waited for each other.
 */
int sim_run(int ranks, const struct sim_model *model, unsigned seed,
	    void (*body)(int rank, struct scribe_mpi *mpi, void *arg), void *arg);

/* From a body: the rank's clock begins; what it is, ns. */
void sim_begin(struct scribe_mpi *mpi);
double sim_clock(struct scribe_mpi *mpi);
/* Since sim_run was called. */
const struct sim_costs *sim_costs(void);

#endif
