/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbolic links that a job's processes have made, moved or removed, as far as the events have been taken: what a
 * path has led to at the time of a call, while the file system may be further. Must not know of files, slots or
 * events.
 */
#ifndef RUNTIME_DAEMON_MODEL_LINK_TABLE_H
#define RUNTIME_DAEMON_MODEL_LINK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

#define SCRIBE_LINKS_MAX       4096u      /* of a job; further ones are not kept */
#define SCRIBE_LINKS_BYTES_MAX (4u << 20) /* and so much text of them */
#define SCRIBE_LINK_MOVES_MAX  65536u     /* links that a job may move by renaming folders; then none is kept */

/* Begins as zeros. Paths are absolute and resolved but for their last component; `root`: whose paths they are. */
struct scribe_link_table {
	struct scribe_map by_path; /* of struct scribe_link_row */
	struct scribe_map folders; /* hash of each folder above a link: how many links are below */
	size_t bytes;
	unsigned moves;
	bool full; /* some are not here */
};

enum scribe_link_state {
	SCRIBE_LINK_UNKNOWN, /* the job has not changed it: ask the file system */
	SCRIBE_LINK_IS,      /* it is a link */
	SCRIBE_LINK_IS_NOT,  /* it has been one, and is none now */
};

/* What is at `path`; ret_target: what a link says, the table's until it is changed. */
enum scribe_link_state scribe_links_find(const struct scribe_link_table *t, uint64_t root, const char *path,
					 const char **ret_target);
/* Is any path known that `path` begins with? */
bool scribe_links_cross(const struct scribe_link_table *t, uint64_t root, const char *path);

/* A link is made at `path`. False: it cannot be kept. */
bool scribe_links_made(struct scribe_link_table *t, uint64_t root, const char *path, const char *target);
/*
 * What was at `path` is gone; or is at `to` now, and what was there is gone (`swap`: at `from`). True: it was
 * a link, or links were below.
 */
bool scribe_links_removed(struct scribe_link_table *t, uint64_t root, const char *path);
bool scribe_links_moved(struct scribe_link_table *t, uint64_t root, const char *from, const char *to, bool swap);
void scribe_links_clear(struct scribe_link_table *t);

#endif
