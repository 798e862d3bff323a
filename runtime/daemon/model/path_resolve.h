/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_MODEL_PATH_RESOLVE_H
#define RUNTIME_DAEMON_MODEL_PATH_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/model/link_table.h"
#include "runtime/daemon/model/name_table.h"

#define SCRIBE_PATH_NOFOLLOW 0x1u /* the last component is not followed */
#define SCRIBE_PATH_NO_LINKS 0x2u /* -ELOOP if a component is a link */

/* O_PATH descriptor of `path` below `root_fd`, or a negative errno. Called if the kernel's cache is not enough. */
typedef int (*scribe_path_open_fn)(void *ctx, int root_fd, const char *path, unsigned flags);

/*
 * Resolves in place below `root_fd` (-1: gone). What does not exist is cleaned as text. Returns the new length. Waits
 * for a file system only in `fn`.
 */
size_t scribe_path_resolve(char *path, size_t cap, int root_fd, bool nofollow, scribe_path_open_fn fn, void *ctx);

/* A function for `fn` that may wait for the file system. */
int scribe_path_open(void *ctx, int root_fd, const char *path, unsigned flags);

/* Only root can change the folder of `path` and all above it. False if the kernel's cache is not enough. */
bool scribe_path_folder_is_fixed(int root_fd, const char *path);

/* A path being resolved by component. */
struct scribe_path_walk {
	char done[SCRIBE_NAME_CAPACITY]; /* resolved so far */
	char rest[SCRIBE_NAME_CAPACITY];
	unsigned links; /* followed */
	unsigned looked_at;
	bool cut;       /* limit reached: the rest is text */
	size_t changed; /* length of `done` up to a removed link, 0: not below one */
	bool nofollow;
};

/* False: kernel cache or table may have a link on the way of the absolute `path`. */
bool scribe_path_is_plain(const char *path, int root_fd, bool nofollow, const struct scribe_link_table *links,
			  uint64_t root);
/* `path` must be shorter than SCRIBE_NAME_CAPACITY. */
void scribe_path_walk_begin(struct scribe_path_walk *k, const char *path, bool nofollow);
/*
 * False: neither table nor kernel cache can resolve `done`. The next call goes on with the answer, or as if it was not
 * a link.
 */
bool scribe_path_walk(struct scribe_path_walk *k, int root_fd, const struct scribe_link_table *links, uint64_t root);
/* The resolved name of `done`; shorter than SCRIBE_NAME_CAPACITY. */
void scribe_path_walk_answer(struct scribe_path_walk *k, const char *path);

#endif
