/* SPDX-License-Identifier: BSD-3-Clause */
/* Access patterns by the key in records. Must not know of slots or logs. */
#include "runtime/daemon/model/access_patterns.h"

#include <errno.h>
#include <stdlib.h>

#include "logfmt/rules/lib_rules.h"

int scribe_access_patterns_keep(struct scribe_access_patterns *patterns, int64_t key,
				const struct scribe_access_pattern *pattern)
{
	/* The kernel's table is emptied later, so the pattern is copied. */
	struct scribe_access_pattern *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *pattern;
	free(scribe_map_take(&patterns->by_key, (uint64_t)key));
	if (scribe_map_put(&patterns->by_key, (uint64_t)key, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

bool scribe_access_patterns_find(const struct scribe_access_patterns *patterns, int64_t key,
				 struct scribe_access_pattern *ret_shape)
{
	const struct scribe_access_pattern *s = scribe_map_get(&patterns->by_key, (uint64_t)key);

	if (s)
		*ret_shape = *s;
	return s != NULL;
}

void scribe_access_patterns_clear(struct scribe_access_patterns *patterns)
{
	for (size_t i = 0; i < patterns->by_key.buckets; i++)
		free(patterns->by_key.entry[i].value);
	scribe_map_clear(&patterns->by_key);
}
