/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of a log unit for its log: whether it is over, and its ranks. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/daemon/model/mpi_worlds.h"

bool scribe_log_unit_is_over(struct scribe_worlds *worlds, const struct scribe_log_unit *u)
{
	const struct scribe_process *launcher;

	if (u->live)
		return false;
	if (!u->id)
		return worlds->living == 0;
	if (u->nprocs > 0 && u->ranks.used == (size_t)u->nprocs)
		return true;
	/* A launcher may start the missing ranks until it exits; of a framework, any of this node. */
	if (u->is_framework && worlds->living_agents)
		return false;
	launcher = u->launcher ? scribe_worlds_find(worlds, u->launcher) : NULL;
	if (launcher && !launcher->ended)
		return false;
	return launcher != NULL || worlds->living == 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct scribe_rank *const *x = a, *const *y = b;

	return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

int scribe_log_unit_ranks(const struct scribe_log_unit *u, struct scribe_rank ***ret_ranks, size_t *ret_n)
{
	struct scribe_rank **r = calloc(u->ranks.used + 1, sizeof(*r));
	size_t n = 0;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < u->ranks.buckets; i++)
		if (u->ranks.entry[i].value)
			r[n++] = u->ranks.entry[i].value;
	qsort(r, n, sizeof(*r), by_rank);
	*ret_ranks = r;
	*ret_n = n;
	return 0;
}

int64_t scribe_log_unit_nprocs(const struct scribe_log_unit *u)
{
	int64_t n = u->nprocs > 0 ? u->nprocs : 1;

	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (r && r->rank >= n)
			n = r->rank + 1;
	}
	return n;
}
