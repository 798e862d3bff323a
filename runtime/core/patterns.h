/* SPDX-License-Identifier: BSD-3-Clause */
/* POSIX extended regular expressions; only in a helper with limits (exclusion_worker.c). */
#ifndef RUNTIME_CORE_PATTERNS_H
#define RUNTIME_CORE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scribe_pattern_of { SCRIBE_PATTERN_NAME, SCRIBE_PATTERN_PROGRAM };

/* Starts as zeros. */
struct scribe_patterns {
	struct scribe_pattern *at;
	size_t n, capacity;
};

/* `modules`: bits it applies to. -EINVAL: invalid, -E2BIG: too large, -ENOMEM. */
int scribe_patterns_add(struct scribe_patterns *p, enum scribe_pattern_of of, bool include, uint64_t modules,
			const char *ere);
/* Bits of modules that exclude the text. -E2BIG: no memory, *ret_modules is not set. */
int scribe_patterns_match(struct scribe_patterns *p, enum scribe_pattern_of of, const char *text,
			  uint64_t *ret_modules);
void scribe_patterns_clear(struct scribe_patterns *p);

#endif
