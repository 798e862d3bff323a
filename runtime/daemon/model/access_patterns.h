/* SPDX-License-Identifier: BSD-3-Clause */
/* Kept as long as records refer to them (logfmt/rules/lib_rules.h). */
#ifndef RUNTIME_DAEMON_MODEL_ACCESS_PATTERNS_H
#define RUNTIME_DAEMON_MODEL_ACCESS_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

struct scribe_access_pattern;
struct scribe_access_patterns {
	struct scribe_map by_key;
};

/* Copied; replaces one with this key. -ENOMEM. */
int scribe_access_patterns_keep(struct scribe_access_patterns *patterns, int64_t key,
				const struct scribe_access_pattern *pattern);
bool scribe_access_patterns_find(const struct scribe_access_patterns *patterns, int64_t key,
				 struct scribe_access_pattern *ret_shape);
void scribe_access_patterns_clear(struct scribe_access_patterns *patterns);

#endif
