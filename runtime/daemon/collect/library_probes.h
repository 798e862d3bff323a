/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Library modules in the daemon: which libraries are attached to, and when.
 * Nothing here can stop system call tracing: what fails is noted.
 */
#ifndef RUNTIME_DAEMON_COLLECT_LIBRARY_PROBES_H
#define RUNTIME_DAEMON_COLLECT_LIBRARY_PROBES_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/state/daemon.h"
#include "uprobes/attach/attach.h"

/*
 * At the start of a service, or of a job: programs are loaded, and what the linker's cache and the site's list of paths
 * name is attached to. A service's stay for as long as it lives.
 */
void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c);
/* Each turn: links that are being made. */
void scribe_libs_tick(struct scribe_daemon *d);
bool scribe_libs_busy(const struct scribe_daemon *d);
/*
 * Nobody is there any more: what was attached to for a process, and is not the site's, is taken off by
 * scribe_libs_detach_one, one link each; false: all are.
 */
void scribe_libs_rest(struct scribe_daemon *d);
bool scribe_libs_detach_one(struct scribe_daemon *d);
/* What the daemon keeps for them. */
enum scribe_process_role scribe_libs_role(const struct scribe_config *c);
/*
 * A process that is about to run CMD, the last `words` of its command line (0: nobody knows
 * how many): the programs among them, and what they need. False: that is still being searched
 * for, and the client of this id is gone on with (scribe_daemon_go_on) when it is known.
 */
bool scribe_libs_before(struct scribe_daemon *d, struct scribe_job *job, pid_t pid, uint32_t words, uint64_t client);
/*
 * A process has executed a program, at `when_ns` (0: some time ago): what LD_LIBRARY_PATH offers it. What it needs is
 * probed when it is mapped, while its runtime waits (SCRIBE_MSG_PROBED). Marks its log where calls of what is linked
 * into a program that has just begun may have gone by.
 */
void scribe_libs_exec(struct scribe_daemon *d, struct scribe_process *p, uint64_t when_ns);
/*
 * A process has mapped an executable file (dlopen, or the linker's own maps), at
 * `when_ns`; `name` is its last name. Marks its log where calls may have gone by before the
 * probes stood, and where a library of such a name could not be looked into.
 */
void scribe_libs_mapped(struct scribe_daemon *d, struct scribe_process *p, uint64_t dev, uint64_t ino,
			uint64_t when_ns, const char *name);
/* It had begun before all libraries were attached to: what it has mapped by then is judged in the same way. */
void scribe_libs_late(struct scribe_daemon *d, struct scribe_process *p);
/* Lives on from the daemon before: where no probes stood between the two, the same. */
void scribe_libs_resumed(struct scribe_daemon *d, struct scribe_process *p);
/* A process is gone, and its records have been taken. */
void scribe_libs_ended(struct scribe_daemon *d);
/* Now and then: what the kernel's tables hold of processes that are gone is taken out. */
void scribe_libs_sweep(struct scribe_daemon *d);
struct scribe_access_pattern;
/* What belongs to the key of a shape in a record of a library. */
bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_access_pattern *ret_shape);
/* No job is left. */
void scribe_libs_idle(struct scribe_daemon *d);
/* `for_good`: detach; else what is pinned stays attached, for the next daemon. */
void scribe_libs_stop(struct scribe_daemon *d, bool for_good);

#endif
