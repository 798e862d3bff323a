/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches names of files and programs against a job's patterns, in a helper with the job user's identity.
 * Compiled patterns stay in static memory between requests. Must not know what the results are used for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/patterns.h"
#include "runtime/daemon/config/exclusion_rules.h"
#include "runtime/daemon/privsep/exclusion_worker.h"
#include "runtime/daemon/privsep/helper_limits.h"
#include "runtime/daemon/privsep/sandbox.h"

#define BATCH_MAX  (1u << 20)  /* bytes */
#define MEMORY_MAX (64u << 20) /* bytes: a thousand patterns take some megabytes */
#define SECONDS    2u          /* processor time per request */

struct reader {
	const char *at, *end;
};

/* NULL: fewer bytes are left. */
static const void *take(struct reader *r, size_t bytes)
{
	const char *at = r->at;

	if (bytes > (size_t)(r->end - at))
		return NULL;
	r->at += bytes;
	return at;
}

static bool take_number(struct reader *r, uint32_t *ret)
{
	const void *at = take(r, sizeof(*ret));

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at;
}

static const char *take_text(struct reader *r, uint32_t bytes)
{
	const char *text = bytes ? take(r, bytes) : NULL;

	return text && !text[bytes - 1] ? text : NULL;
}

static int take_patterns(struct scribe_patterns *p, struct reader *r, bool *ret_short)
{
	uint32_t n;

	scribe_patterns_clear(p);
	*ret_short = false;
	if (!take_number(r, &n))
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		const void *at = take(r, sizeof(struct scribe_rule_text));
		struct scribe_rule_text head;
		const char *text;
		int rc;

		if (at)
			memcpy(&head, at, sizeof(head));
		text = at ? take_text(r, head.bytes) : NULL;
		if (!text)
			return -EINVAL;
		rc = scribe_patterns_add(p, (enum scribe_pattern_of)head.of, head.include, head.modules, text);
		/* An invalid pattern is skipped; with one that is too large every name counts as given up. */
		*ret_short = *ret_short || (rc < 0 && rc != -EINVAL);
	}
	return 0;
}

static int match_texts(struct reader *r, bool anew, struct scribe_helper_answer *ret)
{
	static struct scribe_patterns patterns;
	static bool too_few;
	int rc = anew ? take_patterns(&patterns, r, &too_few) : 0;

	if (rc < 0 || !take_number(r, &ret->n) || ret->n > SCRIBE_HELPER_JUDGED)
		return -EINVAL;
	for (uint32_t i = 0; i < ret->n; i++) {
		const void *at = take(r, sizeof(struct scribe_helper_text));
		struct scribe_helper_text head;
		const char *text;

		if (at)
			memcpy(&head, at, sizeof(head));
		text = at ? take_text(r, head.bytes) : NULL;
		if (!text)
			return -EINVAL;
		if (too_few ||
		    scribe_patterns_match(&patterns, (enum scribe_pattern_of)head.of, text, &ret->out[i]) < 0)
			ret->given_up |= 1ull << i;
	}
	return 0;
}

int scribe_helper_check_texts(int fd, bool anew, struct scribe_helper_answer *ret)
{
	struct reader r;
	struct stat st;
	char *text;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > BATCH_MAX)
		return -EINVAL;
	rc = scribe_helper_limits(MEMORY_MAX, SECONDS);
	if (rc < 0)
		return rc;
	text = malloc((size_t)st.st_size);
	if (!text)
		return -ENOMEM;
	r = (struct reader){text, text + st.st_size};
	rc = pread(fd, text, (size_t)st.st_size, 0) == st.st_size ? match_texts(&r, anew, ret) : -EIO;
	free(text);
	return rc;
}
