/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and programs against a job's patterns, by PCRE2 with limits. For the worker of
 * the job's user alone: who wrote them is the one whose time they take.
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
	void *limits; /* of a match, */
	void *found;  /* and its room */
	uint64_t until_ns; /* of this thread's processor time: then limits are hit; 0 none */
};

/* `modules`: whom it is for. -EINVAL: no expression, -E2BIG: too large a one, -ENOMEM. */
int scribe_patterns_add(struct scribe_patterns *p, enum scribe_pattern_of of, bool include, uint64_t modules,
			const char *ere);
/* Modules (bits) that the text is left out of. -E2BIG: a limit was hit, nothing is left out. */
int scribe_patterns_match(struct scribe_patterns *p, enum scribe_pattern_of of, const char *text,
			  uint64_t *ret_modules);
void scribe_patterns_clear(struct scribe_patterns *p);

#endif
