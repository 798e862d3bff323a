/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's cores: modules fed by plain code, told of processes as they end,
 * and the POSIX module, filled from what the kernel kept.
 */
#ifndef RUNTIME_DAEMON_COLLECT_MODULES_H
#define RUNTIME_DAEMON_COLLECT_MODULES_H

#include "runtime/core/core.h"
#include "logfmt/records/bundle.h"
#include "runtime/daemon/state/daemon.h"

/* A process has ended: tell the modules that are on. */
void scribe_daemon_modules_process_end(const struct scribe_process *p);
/* A core of the rank `rank` with the job's settings; no limit on memory. NULL: memory is out. */
struct scribe_core *scribe_daemon_modules_core(struct scribe_job *w, int64_t rank, uint64_t base_ns);
/* The files of a rank as records of POSIX and POSIX_EXT. 0 or -ENOMEM. */
int scribe_daemon_modules_posix(struct scribe_job *w, struct scribe_core *core, const struct scribe_records *files,
			 uint64_t base_ns);
/* Finish a core into the bundle; names go to the job's table. */
int scribe_daemon_modules_finish(struct scribe_job *w, struct scribe_core *core, const uint64_t *shared,
			  int nshared, struct scribe_bundle *b, uint64_t *partial);
/* What the modules fed by plain code have of this rank. Frees their core. */
int scribe_daemon_modules_rank(struct scribe_job *w, struct scribe_rank *r, struct scribe_bundle *b,
			uint64_t *partial);

/* What static modules have to say of the files that the bundle has records of. 0 or -ENOMEM. */
int scribe_daemon_modules_files(struct scribe_job *w, struct scribe_bundle *b, uint64_t *partial);

#endif
