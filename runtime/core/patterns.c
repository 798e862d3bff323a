/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns by PCRE2. Must not know who asks. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/core/patterns.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/core/ere.h"

/* Of one match. `.*a.*b` on the longest name takes some 20,000 steps. */
#define STEPS_MAX  200000u
#define DEPTH_MAX  50000u
#define KBYTES_MAX 16384u

struct scribe_pattern {
	enum scribe_pattern_of of;
	bool include;
	uint64_t modules;
	pcre2_code *code;
};

static int prepare(struct scribe_patterns *p)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);

	p->limits = limits;
	p->found = pcre2_match_data_create(1, NULL);
	if (!limits || !p->found)
		return -ENOMEM;
	pcre2_set_match_limit(limits, STEPS_MAX);
	pcre2_set_depth_limit(limits, DEPTH_MAX);
	pcre2_set_heap_limit(limits, KBYTES_MAX);
	return 0;
}

static int compile(const char *ere, pcre2_code **ret)
{
	const uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
				 PCRE2_NEVER_BACKSLASH_C;
	char text[SCRIBE_PCRE_BYTES_MAX];
	int rc = scribe_ere_translate(ere, text), code;
	PCRE2_SIZE at;

	if (rc < 0)
		return rc;
	*ret = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
	return *ret ? 0 : -E2BIG; /* its form is right: it is too large */
}

int scribe_patterns_add(struct scribe_patterns *p, enum scribe_pattern_of of, bool include, uint64_t modules,
			const char *ere)
{
	struct scribe_pattern *more, one = {of, include, modules, NULL};
	int rc = p->found ? 0 : prepare(p);

	if (rc == 0 && p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 16;

		more = realloc(p->at, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->at = more;
		p->room = room;
	}
	if (rc == 0)
		rc = compile(ere, &one.code);
	if (rc == 0)
		p->at[p->n++] = one;
	return rc;
}

static bool is_late(const struct scribe_patterns *p)
{
	struct timespec ts;

	if (!p->until_ns)
		return false;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec >= p->until_ns;
}

int scribe_patterns_match(struct scribe_patterns *p, enum scribe_pattern_of of, const char *text,
			  uint64_t *ret_modules)
{
	uint64_t out = 0, in = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct scribe_pattern *one = &p->at[i];
		uint64_t *to = one->include ? &in : &out;
		int rc;

		if (one->of != of || !(one->modules & ~*to))
			continue;
		if (is_late(p))
			return -E2BIG;
		rc = pcre2_match(one->code, (PCRE2_SPTR)text, strlen(text), 0, 0, p->found, p->limits);
		if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
			return -E2BIG;
		if (rc >= 0)
			*to |= one->modules;
	}
	*ret_modules = out & ~in;
	return 0;
}

void scribe_patterns_clear(struct scribe_patterns *p)
{
	for (size_t i = 0; i < p->n; i++)
		pcre2_code_free(p->at[i].code);
	free(p->at);
	pcre2_match_data_free(p->found);
	pcre2_match_context_free(p->limits);
	*p = (struct scribe_patterns){0};
}
