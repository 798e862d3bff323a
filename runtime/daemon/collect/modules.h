/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules: records of POSIX and libraries made from what the kernel kept; those fed by plain code are told of
 * processes as they end.
 */
#ifndef RUNTIME_DAEMON_COLLECT_MODULES_H
#define RUNTIME_DAEMON_COLLECT_MODULES_H

#include "runtime/core/core.h"
#include "logfmt/records/bundle.h"
#include "runtime/daemon/state/daemon.h"

/* A process has ended: tell the modules that are on. */
void scribe_daemon_modules_process_end(const struct scribe_process *p);
/* The files of a rank as records of POSIX, POSIX_EXT, the library modules and LAYERS, into `b`. 0 or -ENOMEM. */
int scribe_daemon_modules_records(struct scribe_job *job, int64_t rank, const struct scribe_records *files,
				   uint64_t base_ns, struct scribe_bundle *b);
/* What the modules fed by plain code have of this rank. Frees their core. */
int scribe_daemon_modules_rank(struct scribe_job *job, struct scribe_rank *r, struct scribe_bundle *b,
			uint64_t *partial);

/* What static modules have to say of the files that the bundle has records of. 0 or -ENOMEM. */
int scribe_daemon_modules_files(struct scribe_job *job, struct scribe_bundle *b, uint64_t *partial);

#endif
