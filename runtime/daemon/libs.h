/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Library modules in the daemon: which libraries are attached to, and when.
 * Nothing here can stop system call tracing: what fails is noted.
 */
#ifndef RUNTIME_DAEMON_LIBS_H
#define RUNTIME_DAEMON_LIBS_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/confine.h"
#include "runtime/daemon/daemon.h"
#include "uprobes/attach.h"

/* At the start of a job. Programs are loaded, and libraries attached to, as processes come that may use any. */
void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c);
/* Modules of the log (bits) that the value of `libraries` names; what this build leaves out is not among
 * them. */
uint64_t scribe_libs_modules(const char *list);
/* Those that a configuration asks for: who counts single calls of streams wants streams. */
uint64_t scribe_libs_wanted(const struct scribe_config *c);
/* Modules whose calls preloaded programs may count themselves. */
uint64_t scribe_libs_modules_inside(const struct scribe_config *c);
/* What the daemon keeps for them. */
enum scribe_part scribe_libs_part(const struct scribe_config *c);
/* How their probes hang on files. */
enum scribe_uprobe_level scribe_libs_level(const struct scribe_config *c);
/* Are calls to be counted inside the programs that are preloaded? */
bool scribe_libs_counts_inside(const struct scribe_config *c);
/* Path of the library that counts streams and files inside programs; false: not wanted. */
bool scribe_libs_inside_library(const struct scribe_config *c, char *ret_path, size_t cap);
/*
 * A process that is about to run CMD, the last `words` of its command line (0: nobody knows
 * how many): the programs among them, and what they need.
 */
void scribe_libs_before(struct scribe_daemon *d, struct scribe_work *w, pid_t pid, uint32_t words);
/* A process has executed a program: what it needs, and what LD_LIBRARY_PATH offers it. */
void scribe_libs_exec(struct scribe_daemon *d, const struct scribe_process *p);
/*
 * A process has mapped an executable file (dlopen, or the linker's own maps), at
 * `when_ns`. Marks its log where calls may have gone by before the probes stood.
 */
void scribe_libs_mapped(struct scribe_daemon *d, const struct scribe_process *p, uint64_t dev, uint64_t ino,
			uint64_t when_ns);
/* Lives on from the daemon before, without probes between the two: the libraries that it has started are
 * marked. */
void scribe_libs_resumed(struct scribe_daemon *d, const struct scribe_process *p);
/* Now and then: does counting single stream calls cost too much? */
void scribe_libs_guard(struct scribe_daemon *d);
/* A process is gone, and its records have been taken. */
void scribe_libs_ended(struct scribe_daemon *d);
/* Now and then: what the kernel's tables hold of processes that are gone is taken out. */
void scribe_libs_sweep(struct scribe_daemon *d);
struct scribe_shape;
/* What belongs to the key of a shape in a record of a library. */
bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_shape *ret_shape);
/* As scribe_uprobes_covered. */
size_t scribe_libs_covered(const struct scribe_daemon *d, uint32_t image,
			   struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX]);
/* `for_good`: detach; else what is pinned stays attached, for the next daemon. */
void scribe_libs_stop(struct scribe_daemon *d, bool for_good);

#endif
