/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns by regcomp(3), as in Darshan. A user's pattern may take all memory and time, so this runs in a
 * helper with limits and the user's identity (privsep/exclusion_worker.c), never in the daemon.
 */
#include "runtime/core/patterns.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>

struct scribe_pattern {
	enum scribe_pattern_of of;
	bool include;
	uint64_t modules;
	regex_t code;
};

static int compile(regex_t *code, const char *ere)
{
	int rc = regcomp(code, ere, REG_EXTENDED | REG_NOSUB);

	if (rc == REG_ESPACE || rc == REG_ESIZE)
		return -E2BIG;
	return rc ? -EINVAL : 0;
}

int scribe_patterns_add(struct scribe_patterns *p, enum scribe_pattern_of of, bool include, uint64_t modules,
			const char *ere)
{
	struct scribe_pattern one = {.of = of, .include = include, .modules = modules};
	int rc;

	if (p->n == p->capacity) {
		size_t capacity = p->capacity ? p->capacity * 2 : 16;
		struct scribe_pattern *more = realloc(p->at, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->at = more;
		p->capacity = capacity;
	}
	rc = compile(&one.code, ere);
	if (rc == 0)
		p->at[p->n++] = one;
	return rc;
}

int scribe_patterns_match(struct scribe_patterns *p, enum scribe_pattern_of of, const char *text, uint64_t *ret_modules)
{
	uint64_t out = 0, in = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct scribe_pattern *one = &p->at[i];
		uint64_t *to = one->include ? &in : &out;
		int rc;

		/* A pattern of decided modules can add nothing. */
		if (one->of != of || !(one->modules & ~*to))
			continue;
		rc = regexec(&one->code, text, 0, NULL, 0);
		/* Not a mismatch: out of memory. */
		if (rc && rc != REG_NOMATCH)
			return -E2BIG;
		if (rc == 0)
			*to |= one->modules;
	}
	*ret_modules = out & ~in;
	return 0;
}

void scribe_patterns_clear(struct scribe_patterns *p)
{
	for (size_t i = 0; i < p->n; i++)
		regfree(&p->at[i].code);
	free(p->at);
	*p = (struct scribe_patterns){0};
}
