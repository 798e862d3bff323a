/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of /etc/subuid. With newuidmap a user can run processes with any subordinate id, so limits per id would not
 * limit a user.
 */
#include "runtime/daemon/base/subuids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 65536u

struct range {
	uid_t first;
	unsigned long count;
};
static struct range *range;
static size_t nranges;

static int by_first(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

void scribe_subuids_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];
	size_t capacity = 0;

	nranges = 0;
	while (f && nranges < RANGES_MAX && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');
		unsigned long first, count;
		struct range *more;

		if (!colon || sscanf(colon, ":%lu:%lu", &first, &count) != 2 || !first || first > (uid_t)-1)
			continue;
		if (nranges == capacity) {
			more = realloc(range, (capacity * 2 + 64) * sizeof(*range));
			if (!more)
				break;
			range = more;
			capacity = capacity * 2 + 64;
		}
		range[nranges++] = (struct range){(uid_t)first, count};
	}
	if (f)
		fclose(f);
	/* Sorted for the binary search below. */
	if (nranges)
		qsort(range, nranges, sizeof(*range), by_first);
}

uid_t scribe_subuids_first(uid_t uid)
{
	size_t low = 0, high = nranges;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (range[middle].first <= uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low && uid - range[low - 1].first < range[low - 1].count ? range[low - 1].first : uid;
}

bool scribe_subuids_same(uid_t a, uid_t b)
{
	return a == b || scribe_subuids_first(a) == scribe_subuids_first(b);
}
