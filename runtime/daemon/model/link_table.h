/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbolic links changed by a job, as of the events taken so far; the file system may be ahead. Must not know of files,
 * slots or events.
 */
#ifndef RUNTIME_DAEMON_MODEL_LINK_TABLE_H
#define RUNTIME_DAEMON_MODEL_LINK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

#define SCRIBE_LINKS_MAX       4096u      /* per job */
#define SCRIBE_LINKS_BYTES_MAX (4u << 20) /* of their text */
#define SCRIBE_LINK_MOVES_MAX  65536u     /* by renames of folders; then the table is emptied */

/* Initially zero. Paths are absolute and resolved except for the last component. */
struct scribe_link_table {
	struct scribe_map by_path; /* of struct scribe_link_row */
	struct scribe_map folders; /* hash of each folder above a link -> number of links below */
	size_t bytes;
	unsigned moves;
	bool full; /* some links are missing */
};

enum scribe_link_state {
	SCRIBE_LINK_UNKNOWN, /* not changed by the job */
	SCRIBE_LINK_IS,
	SCRIBE_LINK_IS_NOT, /* was a link */
};

/* ret_target: valid until the table changes. */
enum scribe_link_state scribe_links_find(const struct scribe_link_table *t, uint64_t root, const char *path,
					 const char **ret_target);
/* The path or a prefix of it is in the table. */
bool scribe_links_cross(const struct scribe_link_table *t, uint64_t root, const char *path);

/* False: it cannot be stored. */
bool scribe_links_made(struct scribe_link_table *t, uint64_t root, const char *path, const char *target);
/* `path` was removed; `from` was renamed to `to` (`swap`: exchanged). True: links were concerned. */
bool scribe_links_removed(struct scribe_link_table *t, uint64_t root, const char *path);
bool scribe_links_moved(struct scribe_link_table *t, uint64_t root, const char *from, const char *to, bool swap);
void scribe_links_clear(struct scribe_link_table *t);

#endif
