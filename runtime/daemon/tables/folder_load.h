/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Below which folder a job makes most of its opens and stats, between two looks at its records (events/live_walk.h)
 * that are a second or more apart.
 */
#ifndef RUNTIME_DAEMON_TABLES_FOLDER_LOAD_H
#define RUNTIME_DAEMON_TABLES_FOLDER_LOAD_H

#include "runtime/daemon/state/daemon.h"

#define SCRIBE_FOLDER_BYTES 192 /* longer paths are cut at a component */

struct scribe_folder_most {
	double part; /* of the calls */
	char path[SCRIBE_FOLDER_BYTES];
	const struct scribe_mount *mount; /* of the job's; NULL: none */
};

/* A look at all records of the job's running processes begins, and ends. */
void scribe_folder_load_look(struct scribe_job *job, uint64_t now_ns);
void scribe_folder_load_looked(struct scribe_job *job, uint64_t now_ns);
/* A record of the process has so many opens and stats by now; at its end, too. */
void scribe_folder_load_count(struct scribe_process *p, uint32_t slot, uint32_t generation, uint64_t calls);
/* False: few calls. */
bool scribe_folder_load_most(struct scribe_job *job, struct scribe_folder_most *ret_most);
void scribe_folder_load_free(struct scribe_job *job);

#endif
