/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libraries a configuration asks for, and how.
 */
#ifndef RUNTIME_DAEMON_CONFIG_LIBRARY_SELECTION_H
#define RUNTIME_DAEMON_CONFIG_LIBRARY_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/config/config.h"
#include "uprobes/attach/attach.h"

/* Modules of the log (bits) that the value of `libraries` names; what this build leaves out is not among
 * them. */
uint64_t scribe_libs_modules(const char *list);
/* Those that a configuration asks for. */
uint64_t scribe_libs_wanted(const struct scribe_config *c);
/* Modules whose calls preloaded programs may count themselves. */
uint64_t scribe_libs_modules_wrapped(const struct scribe_config *c);
/* How their probes are attached to files. */
enum scribe_uprobe_level scribe_libs_level(const struct scribe_config *c);
/* Are streams to be counted inside the programs that are preloaded? It takes no probe. */
bool scribe_libs_streams_wrapped(const struct scribe_config *c);
/* Are these, or other calls? */
bool scribe_libs_counts_wrapped(const struct scribe_config *c);
/* Path of the library that counts streams and files inside programs; false: not wanted. */
bool scribe_libs_wrap_library(const struct scribe_config *c, char *ret_path, size_t cap);

#endif
