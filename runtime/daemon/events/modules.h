/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_EVENTS_MODULES_H
#define RUNTIME_DAEMON_EVENTS_MODULES_H

#include "logfmt/records/bundle.h"
#include "runtime/core/core.h"
#include "runtime/daemon/state/daemon.h"

/* For enabled modules. */
void scribe_daemon_modules_process_end(const struct scribe_process *p);
/* Records of POSIX, POSIX_EXT, libraries and LAYERS. 0 or -ENOMEM. */
int scribe_daemon_modules_records(struct scribe_job *job, int64_t rank, const struct scribe_records *files,
				  uint64_t base_ns, struct scribe_bundle *b);
/* Records of plain modules. Frees the rank's core. */
int scribe_daemon_modules_rank(struct scribe_job *job, struct scribe_rank *r, struct scribe_bundle *b,
			       uint64_t *partial);

/* Records of static modules, for files in the bundle. 0 or -ENOMEM. */
int scribe_daemon_modules_files(struct scribe_job *job, struct scribe_bundle *b, uint64_t *partial);

#endif
