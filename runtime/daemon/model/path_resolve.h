/* SPDX-License-Identifier: BSD-3-Clause */
/* Links and dots of a path. Must not know what it is for. */
#ifndef RUNTIME_DAEMON_MODEL_PATH_RESOLVE_H
#define RUNTIME_DAEMON_MODEL_PATH_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/model/link_table.h"
#include "runtime/daemon/model/name_table.h"

#define SCRIBE_PATH_NOFOLLOW 0x1u /* the last component is not followed */
#define SCRIBE_PATH_NO_LINKS 0x2u /* -ELOOP where any component is a link */

/*
 * An O_PATH descriptor of `path` below `root_fd`, links followed in it as `flags` (SCRIBE_PATH_...) say;
 * or a negative errno. Asked where the kernel would have to ask the file system.
 */
typedef int (*scribe_path_open_fn)(void *ctx, int root_fd, const char *path, unsigned flags);

/*
 * Links and dots resolved below the directory `root_fd` (the process's root;
 * -1: not possible any more), the last component followed unless nofollow. What
 * does not exist is cleaned as text. Returns the new length. Does not wait for a
 * file system: what the kernel has not in memory is asked of `fn`.
 */
size_t scribe_path_resolve(char *path, size_t cap, int root_fd, bool nofollow, scribe_path_open_fn fn, void *ctx);

/* Such a function that waits for the file system. */
int scribe_path_open(void *ctx, int root_fd, const char *path, unsigned flags);

/*
 * Is the folder of `path` (resolved, below the directory `root_fd`) one that root alone can change, as are all
 * above it? Looks only at what the kernel has in memory: false where that is not all.
 */
bool scribe_path_folder_is_fixed(int root_fd, const char *path);

/* A path that is being resolved, where the job has changed links. */
struct scribe_path_walk {
	char done[SCRIBE_NAME_ROOM]; /* resolved; at the end the name */
	char rest[SCRIBE_NAME_ROOM]; /* and what comes behind it */
	unsigned links;              /* followed so far, */
	unsigned looked_at;          /* of so many components; there is a limit, */
	bool cut;                    /* and it was reached: none of the rest is taken for a link */
	size_t changed;              /* bytes done up to what the job has put in a link's place, 0: not below one */
	bool nofollow;
};

/* Is `path` (absolute) its own name: no link on its way that the kernel or the table knows of? */
bool scribe_path_is_plain(const char *path, int root_fd, bool nofollow, const struct scribe_link_table *links,
			  uint64_t root);
/* `path`: shorter than SCRIBE_NAME_ROOM. */
void scribe_path_walk_begin(struct scribe_path_walk *k, const char *path, bool nofollow);
/*
 * Go on with it: links are what the table of the root says, and else what the kernel has in memory. False: only the
 * file system knows what is called `done` now. Then the walk goes on with the answer, or as if there was no link.
 */
bool scribe_path_walk(struct scribe_path_walk *k, int root_fd, const struct scribe_link_table *links, uint64_t root);
/* What is done is called so, resolved; shorter than SCRIBE_NAME_ROOM. */
void scribe_path_walk_answer(struct scribe_path_walk *k, const char *path);

#endif
