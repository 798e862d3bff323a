/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends ids to home ranks and back through a hypercube: in step k, ids with a different bit k in their home go
 * to the partner in that bit. Ranks beyond the largest power of two use one below. Lists are sorted, so a step
 * needs only a byte per id. Runs in MPI_Finalize; memory: coll.c.
 */
#include <string.h>

#include "runtime/client/mpi/shared.h"

#define STEPS_MAX 26 /* enough for SCRIBE_SHARED_RANKS */

enum { WAS_MINE = 1, WAS_THEIRS = 2 };

/* Kept for the way back. */
struct step {
	int partner;
	bool gives, takes;
	size_t before;       /* ids before */
	unsigned char *goes; /* 1: sent */
	size_t gone, come;
	size_t after;
	unsigned char *from; /* ids after: WAS_* */
};

struct route {
	struct scribe_coll *c;
	struct scribe_shared_id *ids; /* currently on this rank */
	size_t n;
	struct step step[STEPS_MAX];
	int nsteps;
};

struct answer {
	uint32_t ranks, first_module;
};

static void add(struct scribe_shared_id *to, const struct scribe_shared_id *other)
{
	to->ranks += other->ranks;
	if (other->first_module < to->first_module)
		to->first_module = other->first_module;
}

/* Merges in order what stayed and what came. */
static int merge(struct route *r, struct step *s, const struct scribe_shared_id *mine, size_t n,
		 const struct scribe_shared_id *theirs)
{
	struct scribe_shared_id *all = scribe_coll_array(r->c, n + s->come, sizeof(*all));
	size_t i = 0, k = 0, to = 0;

	s->from = scribe_coll_array(r->c, n + s->come, 1);
	if (!all || !s->from)
		return -1;
	while (i < n || k < s->come) {
		int order = i == n ? 1 : k == s->come ? -1 : scribe_shared_order(&mine[i], &theirs[k]);

		all[to] = order <= 0 ? mine[i] : theirs[k];
		if (order == 0)
			add(&all[to], &theirs[k]);
		s->from[to] = (unsigned char)((order <= 0 ? WAS_MINE : 0) | (order >= 0 ? WAS_THEIRS : 0));
		i += order <= 0;
		k += order >= 0;
		to++;
	}
	scribe_coll_release(r->c, r->ids);
	r->ids = all;
	r->n = s->after = to;
	return 0;
}

/* `bit`: of the home rank; 0: everything is sent or kept. */
static int forward(struct route *r, struct step *s, int rank, uint64_t bit)
{
	struct scribe_shared_id *parted = scribe_coll_array(r->c, r->n, sizeof(*parted)), *theirs = NULL;
	size_t stay = 0;
	int rc;

	s->before = r->n;
	s->goes = scribe_coll_array(r->c, r->n, 1);
	if (!parted || !s->goes)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		s->goes[i] = bit ? ((r->ids[i].id ^ (uint64_t)rank) & bit) != 0 : s->gives;
	/* staying ones first, each part in order */
	for (size_t i = 0; i < r->n; i++)
		if (!s->goes[i])
			parted[stay++] = r->ids[i];
	s->gone = 0;
	for (size_t i = 0; i < r->n; i++)
		if (s->goes[i])
			parted[stay + s->gone++] = r->ids[i];
	if (scribe_shared_swap(r->c, s->gives ? s->partner : -1, parted + stay, s->gone, s->takes ? s->partner : -1,
			       &theirs, &s->come) < 0)
		return -1;
	rc = merge(r, s, parted, stay, theirs);
	scribe_coll_release(r->c, parted);
	scribe_coll_release(r->c, theirs);
	return rc;
}

/* Answers for the ids before the step; consumes `known`, NULL: broken. */
static struct answer *back(struct route *r, struct step *s, struct answer *known)
{
	struct answer *out = scribe_coll_array(r->c, s->come, sizeof(*out));
	struct answer *in = scribe_coll_array(r->c, s->gone, sizeof(*in));
	struct answer *before = scribe_coll_array(r->c, s->before, sizeof(*before));
	size_t n = 0, stays = 0, went = 0;

	if (!out || !in || !before)
		return NULL;
	for (size_t i = 0; i < s->after; i++)
		if (s->from[i] & WAS_THEIRS)
			out[n++] = known[i];
	if (scribe_coll_exchange(r->c, s->come ? s->partner : -1, out, s->come * sizeof(*out),
				 s->gone ? s->partner : -1, in, s->gone * sizeof(*in)) < 0)
		return NULL;
	for (size_t i = 0; i < s->before; i++) {
		while (!s->goes[i] && !(s->from[stays] & WAS_MINE))
			stays++;
		before[i] = s->goes[i] ? in[went++] : known[stays++];
	}
	scribe_coll_release(r->c, out);
	scribe_coll_release(r->c, in);
	scribe_coll_release(r->c, known);
	scribe_coll_release(r->c, s->goes);
	scribe_coll_release(r->c, s->from);
	return before;
}

static int go_home(struct route *r, int rank, int size)
{
	/* Depends on rank and size only: partners must agree on the number of steps. */
	int cube = 1;

	while (cube <= size / 2)
		cube *= 2;
	if (size > cube && (rank >= cube || rank + cube < size)) {
		struct step *s = &r->step[r->nsteps++];

		*s = (struct step){.partner = rank ^ cube, .gives = rank >= cube, .takes = rank < cube};
		if (forward(r, s, rank, 0) < 0)
			return -1;
	}
	for (int bit = 1; bit < cube && rank < cube; bit *= 2) {
		struct step *s = &r->step[r->nsteps++];

		*s = (struct step){.partner = rank ^ bit, .gives = true, .takes = true};
		if (forward(r, s, rank, (uint64_t)bit) < 0)
			return -1;
	}
	return 0;
}

int scribe_shared_by_hash(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n)
{
	struct route r = {.c = c, .n = n};
	struct answer *known;

	if (size < 2)
		return 0;
	r.ids = scribe_coll_array(r.c, n, sizeof(*ids));
	if (!r.ids || size > SCRIBE_SHARED_RANKS) {
		c->broken = true;
		return -1;
	}
	if (n)
		memcpy(r.ids, ids, n * sizeof(*ids));
	if (go_home(&r, rank, size) < 0 || !(known = scribe_coll_array(r.c, r.n, sizeof(*known))))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		known[i] = (struct answer){r.ids[i].ranks, r.ids[i].first_module};
	scribe_coll_release(c, r.ids);
	while (r.nsteps > 0) {
		known = back(&r, &r.step[--r.nsteps], known);
		if (!known)
			return -1;
	}
	for (size_t i = 0; i < n; i++) {
		ids[i].ranks = known[i].ranks;
		ids[i].first_module = known[i].first_module;
	}
	scribe_coll_release(c, known);
	return 0;
}
