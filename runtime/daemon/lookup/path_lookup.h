/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links in paths that only a file system can tell: a helper of the job's user
 * follows them, while the daemon goes on. One that does not answer in time costs
 * the job that file's links, and keeps nobody else waiting.
 */
#ifndef RUNTIME_DAEMON_LOOKUP_PATH_LOOKUP_H
#define RUNTIME_DAEMON_LOOKUP_PATH_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/state/job.h"

#define SCRIBE_PATH_LOOKUP_MS      200           /* for an answer */
#define SCRIBE_PATH_LOOKUP_REST_NS 5000000000ull /* after none; twice as long after each further one */
#define SCRIBE_PATH_LOOKUPS_MAX    8             /* helpers that a job may lose so; then nobody is asked any more */

/* Whose path it is. */
struct scribe_path_of {
	int root_fd;   /* the process's root directory, -1: not possible any more */
	uint64_t root; /* struct scribe_process's root_id */
	bool nofollow; /* the last component is not followed */
};

/*
 * `path` (SCRIBE_NAME_ROOM bytes) with links and dots resolved in place, its new length in ret_bytes: links as they
 * were at the time of the event where the job has changed them, and else as they are. False:
 * a helper has been asked; when scribe_path_lookup_waits says that it waits no more, the same
 * call takes the answer. Without one (counted in names_unresolved) the path is what
 * can be resolved from the kernel's dentry cache.
 */
bool scribe_path_lookup(struct scribe_job *job, char *path, const struct scribe_path_of *of, size_t *ret_bytes);
/* A command line, or an environment, from a byte of it on. */
struct scribe_text_of {
	pid_t pid;
	bool environment;
	size_t at;
};

/*
 * What a process of the job's user was executed with, in the same way: false, a helper has been asked. Words that
 * end in NUL; *ret_bytes 0: that is all, or nobody can tell.
 */
bool scribe_path_lookup_text(struct scribe_job *job, const struct scribe_text_of *of, char *ret_text, size_t cap,
			     size_t *ret_bytes);
/* Is an answer under way? Looks for it, and gives it up when it has taken too long. */
bool scribe_path_lookup_waits(struct scribe_job *job);
/* The answer is of no use any more. */
void scribe_path_lookup_forget(struct scribe_job *job);
/* Nobody is asked, and waited for, while `quiet`. */
void scribe_path_lookup_quiet(struct scribe_job *job, bool quiet);
void scribe_path_lookup_end(struct scribe_job *job);

#endif
