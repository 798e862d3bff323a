/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix with '/' at its end means that directory and all below; another one a single path. Included ones win. */
#ifndef RUNTIME_CORE_PATH_EXCLUSIONS_H
#define RUNTIME_CORE_PATH_EXCLUSIONS_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIBE_PREFIXES_MAX 512

struct scribe_prefixes {
	char **text;
	size_t n;
};

struct scribe_exclusions {
	struct scribe_prefixes out, in;
};

/* Darshan's. 0 or -ENOMEM. */
int scribe_exclusions_default(struct scribe_exclusions *e);
/* Comma-separated absolute prefixes; "none" empties the list. 0, -EINVAL or -ENOMEM. */
int scribe_exclusions_exclude(struct scribe_exclusions *e, const char *list);
int scribe_exclusions_include(struct scribe_exclusions *e, const char *list);
/* One exact path, even with commas. */
int scribe_exclusions_exclude_path(struct scribe_exclusions *e, const char *path);
bool scribe_exclusions_match(const struct scribe_exclusions *e, const char *path, size_t bytes);
/* Top-level names ("usr" for "/usr/") that are excluded completely: the kernel side can drop these. */
int scribe_exclusions_tops(const struct scribe_exclusions *e, int (*fn)(void *ctx, const char *name), void *ctx);
/* `to` is new. -ENOMEM: it is empty. */
int scribe_exclusions_copy(struct scribe_exclusions *to, const struct scribe_exclusions *from);
void scribe_exclusions_clear(struct scribe_exclusions *e);

#endif
