/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which paths count. A prefix ending in '/' stands for everything below that
 * directory and the directory itself; any other for that one path. Included
 * prefixes win over excluded ones.
 */
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

/* Darshan's defaults. 0 or -ENOMEM. */
int scribe_exclusions_default(struct scribe_exclusions *e);
/*
 * Add prefixes from a list with commas; "none" first empties the excluded list.
 * A prefix must be absolute. 0, -EINVAL or -ENOMEM.
 */
int scribe_exclusions_exclude(struct scribe_exclusions *e, const char *list);
int scribe_exclusions_include(struct scribe_exclusions *e, const char *list);
/* One exact path, taken as it is (commas too). */
int scribe_exclusions_exclude_path(struct scribe_exclusions *e, const char *path);
bool scribe_exclusions_match(const struct scribe_exclusions *e, const char *path, size_t bytes);
/*
 * Calls fn for each top-level name ("usr" for "/usr/") that is excluded as a
 * whole, no included prefix lying below: the kernel can drop these alone.
 */
int scribe_exclusions_tops(const struct scribe_exclusions *e, int (*fn)(void *ctx, const char *name),
			   void *ctx);
/* `to` is new. 0, or -ENOMEM: it is empty then. */
int scribe_exclusions_copy(struct scribe_exclusions *to, const struct scribe_exclusions *from);
void scribe_exclusions_clear(struct scribe_exclusions *e);

#endif
