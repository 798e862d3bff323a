/* SPDX-License-Identifier: BSD-3-Clause */
/* What a unit's log needs to be told of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/daemon/model/mpi_worlds.h"

/* Beginnings of file names. */
static const char *const bypass_names[SCRIBE_BYPASSES] = {
	[SCRIBE_BYPASS_CUFILE] = "libcufile.so",
	[SCRIBE_BYPASS_DAOS] = "libdaos.so",
	[SCRIBE_BYPASS_SPDK] = "libspdk",
};

void scribe_worlds_mapped(struct scribe_process *p, const char *name)
{
	for (int i = 0; i < SCRIBE_BYPASSES; i++)
		if (!strncmp(name, bypass_names[i], strlen(bypass_names[i])))
			p->bypass |= 1u << i;
	if (p->rank)
		p->rank->bypass |= p->bypass;
}

void scribe_log_unit_bypass(const struct scribe_log_unit *u, char *ret, size_t cap)
{
	size_t at = 0;

	ret[0] = 0;
	for (int i = 0; i < SCRIBE_BYPASSES; i++) {
		unsigned ranks = 0;

		for (size_t k = 0; k < u->ranks.buckets; k++) {
			const struct scribe_rank *r = u->ranks.entry[k].value;

			ranks += r && r->bypass >> i & 1;
		}
		if (ranks && at < cap)
			at += (size_t)snprintf(ret + at, cap - at, "%s%s in %u rank%s", at ? ", " : "", bypass_names[i],
					       ranks, ranks == 1 ? "" : "s");
	}
}

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
