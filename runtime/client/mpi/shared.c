/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ids, and the methods that find only what all ranks have: AND and tree (shared.h). Both move few
 * bytes when the lists are equal. Runs in MPI_Finalize; memory: coll.c. Must not know what the ids mean.
 */
#include "runtime/client/mpi/shared.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_IDS 255 /* sent with the length: most lists are one message */

struct first_message {
	uint64_t n;
	uint64_t pad;
	struct scribe_shared_id id[FIRST_IDS];
};

int scribe_shared_order(const struct scribe_shared_id *a, const struct scribe_shared_id *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (int)scribe_shared_module(a) - (int)scribe_shared_module(b);
}

static int by_order(const void *a, const void *b)
{
	return scribe_shared_order(a, b);
}

size_t scribe_shared_sort(struct scribe_shared_id *ids, size_t n)
{
	size_t kept = 0;

	qsort(ids, n, sizeof(*ids), by_order);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && !scribe_shared_order(&ids[i], &ids[next]); next++)
			;
		/* Equal ids are all dropped: an answer could not distinguish them. */
		if (next == i + 1)
			ids[kept++] = ids[i];
	}
	return kept;
}

const struct scribe_shared_id *scribe_shared_find(const struct scribe_shared_id *ids, size_t n, uint64_t id,
						  unsigned module)
{
	const struct scribe_shared_id wanted = {.id = id, .first_module = module};
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (scribe_shared_order(&ids[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && !scribe_shared_order(&ids[low], &wanted) ? &ids[low] : NULL;
}

int scribe_shared_swap(struct scribe_coll *c, int to, const struct scribe_shared_id *out, size_t n, int from,
		       struct scribe_shared_id **ret_in, size_t *ret_n)
{
	struct first_message *mine = scribe_coll_array(c, 2, sizeof(*mine)), *theirs = mine + 1;
	size_t first = n < FIRST_IDS ? n : FIRST_IDS, come, rest;
	struct scribe_shared_id *in;

	if (!mine)
		return -1;
	mine->n = n;
	if (to >= 0 && n)
		memcpy(mine->id, out, first * sizeof(*out));
	if (scribe_coll_exchange(c, to, mine, offsetof(struct first_message, id) + first * sizeof(*out), from, theirs,
				 sizeof(*theirs)) < 0)
		return -1;
	in = from >= 0 ? scribe_coll_array(c, theirs->n, sizeof(*in)) : NULL;
	if (from >= 0 && !in)
		return -1;
	come = from < 0 ? 0 : theirs->n < FIRST_IDS ? theirs->n : FIRST_IDS;
	if (come)
		memcpy(in, theirs->id, come * sizeof(*in));
	rest = from >= 0 ? theirs->n - come : 0;
	if (scribe_coll_exchange(c, to >= 0 && n > first ? to : -1, n > first ? out + first : NULL,
				 (n - first) * sizeof(*out), rest ? from : -1, rest ? in + come : NULL,
				 rest * sizeof(*in)) < 0)
		return -1;
	*ret_in = in;
	*ret_n = from >= 0 ? theirs->n : 0;
	scribe_coll_release(c, mine);
	return 0;
}

static void mark_all(struct scribe_shared_id *e, int size)
{
	e->ranks = (uint32_t)size;
	e->first_module = scribe_shared_module(e);
}

int scribe_shared_by_and(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n, int teller)
{
	uint64_t *count = scribe_coll_array(c, 1, sizeof(*count));
	struct scribe_shared_id *list;
	unsigned char *flags;
	size_t listed;

	if (!count)
		return -1;
	/* What this rank lacks is not shared by all, so its list is enough. */
	*count = n;
	if (scribe_coll_bcast(c, count, sizeof(*count), teller) < 0)
		return -1;
	listed = *count;
	list = scribe_coll_array(c, listed, sizeof(*list));
	flags = list ? scribe_coll_array(c, listed, 1) : NULL;
	if (!flags)
		return -1;
	if (rank == teller && listed)
		memcpy(list, ids, listed * sizeof(*list));
	if (listed && scribe_coll_bcast(c, list, listed * sizeof(*list), teller) < 0)
		return -1;
	for (size_t i = 0; i < listed; i++)
		flags[i] = scribe_shared_find(ids, n, list[i].id, scribe_shared_module(&list[i])) ? 1 : 0;
	if (listed && scribe_coll_band(c, flags, listed) < 0)
		return -1;
	for (size_t i = 0, mine = 0; i < listed; i++) {
		while (flags[i] && scribe_shared_order(&ids[mine], &list[i]) < 0)
			mine++;
		if (flags[i])
			mark_all(&ids[mine], size);
	}
	scribe_coll_release(c, count);
	scribe_coll_release(c, list);
	scribe_coll_release(c, flags);
	return 0;
}

/* In place. */
static size_t intersect(struct scribe_shared_id *a, size_t na, const struct scribe_shared_id *b, size_t nb)
{
	size_t kept = 0;

	for (size_t i = 0, k = 0; i < na && k < nb;) {
		int order = scribe_shared_order(&a[i], &b[k]);

		if (order == 0)
			a[kept++] = a[i];
		i += order <= 0;
		k += order >= 0;
	}
	return kept;
}

/* In the end rank 0 has the intersection of all. */
static int intersect_up(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *list, size_t *inout_n)
{
	for (int bit = 1; bit < size; bit <<= 1) {
		struct scribe_shared_id *theirs = NULL;
		size_t n;

		if (rank & bit)
			return scribe_shared_swap(c, rank - bit, list, *inout_n, -1, &theirs, &n);
		if (rank + bit >= size)
			continue;
		if (scribe_shared_swap(c, -1, NULL, 0, rank + bit, &theirs, &n) < 0)
			return -1;
		*inout_n = intersect(list, *inout_n, theirs, n);
		scribe_coll_release(c, theirs);
	}
	return 0;
}

int scribe_shared_by_tree(struct scribe_coll *c, int rank, int size, struct scribe_shared_id *ids, size_t n)
{
	struct scribe_shared_id *list = scribe_coll_array(c, n, sizeof(*list)), *all;
	uint64_t *listed = list ? scribe_coll_array(c, 1, sizeof(*listed)) : NULL;
	size_t left = n;

	if (!listed)
		return -1;
	if (n)
		memcpy(list, ids, n * sizeof(*list));
	if (intersect_up(c, rank, size, list, &left) < 0)
		return -1;
	*listed = left;
	if (scribe_coll_bcast(c, listed, sizeof(*listed), 0) < 0)
		return -1;
	all = scribe_coll_array(c, *listed, sizeof(*all));
	if (!all)
		return -1;
	if (rank == 0 && left)
		memcpy(all, list, left * sizeof(*all));
	if (*listed && scribe_coll_bcast(c, all, *listed * sizeof(*all), 0) < 0)
		return -1;
	for (size_t i = 0, mine = 0; i < *listed; i++) {
		while (scribe_shared_order(&ids[mine], &all[i]) < 0)
			mine++;
		mark_all(&ids[mine], size);
	}
	scribe_coll_release(c, list);
	scribe_coll_release(c, all);
	scribe_coll_release(c, listed);
	return 0;
}
