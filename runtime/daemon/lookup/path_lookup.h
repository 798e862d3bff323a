/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_LOOKUP_PATH_LOOKUP_H
#define RUNTIME_DAEMON_LOOKUP_PATH_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/state/job.h"

#define SCRIBE_PATH_LOOKUP_MS      200
#define SCRIBE_PATH_LOOKUP_REST_NS 5000000000ull /* pause after a timeout; doubles each time */
#define SCRIBE_PATH_LOOKUPS_MAX    8             /* timeouts per job; then lookups end */

struct scribe_path_of {
	int root_fd; /* its root directory; -1: gone */
	uint64_t root;
	bool nofollow;
};

/*
 * Resolves `path` (SCRIBE_NAME_CAPACITY bytes) in place: links that the job has changed as at the time of the event,
 * others as they are now. False: a helper is working; call again when scribe_path_lookup_waits() returns false.
 * After a timeout, counted in names_unresolved, the dentry cache alone is used.
 */
bool scribe_path_lookup(struct scribe_job *job, char *path, const struct scribe_path_of *of, size_t *ret_bytes);
/* Command line or environment, from byte `at`. */
struct scribe_text_of {
	pid_t pid;
	bool environment;
	size_t at;
};

/* The same for the text of a process; words end in NUL. *ret_bytes 0: end of the text, or a failure. */
bool scribe_path_lookup_text(struct scribe_job *job, const struct scribe_text_of *of, char *ret_text, size_t cap,
			     size_t *ret_bytes);
/* Also receives the answer and checks the timeout. */
bool scribe_path_lookup_waits(struct scribe_job *job);
void scribe_path_lookup_forget(struct scribe_job *job);
/* While `quiet`, helpers are not used. */
void scribe_path_lookup_quiet(struct scribe_job *job, bool quiet);
void scribe_path_lookup_end(struct scribe_job *job);

#endif
