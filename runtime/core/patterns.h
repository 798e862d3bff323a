/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and programs against a job's patterns: POSIX extended regular expressions of the C library, whose
 * time and memory have no bound. For processes of the job's user with limits alone (exclusion_worker.c).
 */
#ifndef RUNTIME_CORE_PATTERNS_H
#define RUNTIME_CORE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scribe_pattern_of { SCRIBE_PATTERN_NAME, SCRIBE_PATTERN_PROGRAM };

/* Begins as zeros. */
struct scribe_patterns {
	struct scribe_pattern *at;
	size_t n, room;
};

/* `modules`: whom it is for. -EINVAL: no expression, -E2BIG: too large a one, -ENOMEM. */
int scribe_patterns_add(struct scribe_patterns *p, enum scribe_pattern_of of, bool include, uint64_t modules,
			const char *ere);
/* Modules (bits) that the text is left out of. -E2BIG: no memory was left, nothing is left out. */
int scribe_patterns_match(struct scribe_patterns *p, enum scribe_pattern_of of, const char *text,
			  uint64_t *ret_modules);
void scribe_patterns_clear(struct scribe_patterns *p);

#endif
