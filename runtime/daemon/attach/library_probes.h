/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures never stop the daemon. */
#ifndef RUNTIME_DAEMON_ATTACH_LIBRARY_PROBES_H
#define RUNTIME_DAEMON_ATTACH_LIBRARY_PROBES_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/state/daemon.h"
#include "uprobes/attach/attach.h"

/* Loads programs, and probes what the linker's cache and the site's paths name; in a service permanently. */
void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c);
void scribe_libs_tick(struct scribe_daemon *d);
bool scribe_libs_busy(const struct scribe_daemon *d);
/* Each call of scribe_libs_detach_one() then detaches a link that is not the site's. False: all are detached. */
void scribe_libs_rest(struct scribe_daemon *d);
bool scribe_libs_detach_one(struct scribe_daemon *d);
/* The privileges that probes need. */
enum scribe_process_role scribe_libs_role(const struct scribe_config *c);
/* Probes CMD, the last `words` of the command line (0: not known). False: pending, scribe_daemon_go_on() follows. */
bool scribe_libs_before(struct scribe_daemon *d, struct scribe_job *job, pid_t pid, uint32_t words, uint64_t client);
/*
 * `when_ns` 0: earlier. Libraries are probed when mapped, while the runtime waits. Marks the log if calls may be
 * missing.
 */
void scribe_libs_exec(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_process_look *at,
		      uint64_t when_ns);
/* Marks the log if calls before the probes may be missing, or if the file could not be read. */
void scribe_libs_mapped(struct scribe_daemon *d, struct scribe_process *p, uint64_t dev, uint64_t ino, uint64_t when_ns,
			const char *name);
/* Checks all mappings of a process that started before the probes were attached. */
void scribe_libs_late(struct scribe_daemon *d, struct scribe_process *p);
/* The same after a restart, if probes were missing in between. */
void scribe_libs_resumed(struct scribe_daemon *d, struct scribe_process *p);
void scribe_libs_ended(struct scribe_daemon *d);
void scribe_libs_sweep(struct scribe_daemon *d);
struct scribe_access_pattern;
/* The pattern of a key in a record. */
bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_access_pattern *ret_shape);
void scribe_libs_idle(struct scribe_daemon *d);
/* `for_good`: detaches. Otherwise pinned probes are kept for the next daemon. */
void scribe_libs_stop(struct scribe_daemon *d, bool for_good);

#endif
