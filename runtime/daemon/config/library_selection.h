/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_CONFIG_LIBRARY_SELECTION_H
#define RUNTIME_DAEMON_CONFIG_LIBRARY_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/daemon/config/config.h"
#include "uprobes/attach/attach.h"

/* Modules (bits) in the value of `trace_libraries`, without those that this build lacks. */
uint64_t scribe_libs_modules(const char *list);
uint64_t scribe_libs_wanted(const struct scribe_config *c);
/* Modules with calls that preloaded programs may count. */
uint64_t scribe_libs_modules_wrapped(const struct scribe_config *c);
enum scribe_uprobe_level scribe_libs_level(const struct scribe_config *c);
bool scribe_libs_streams_wrapped(const struct scribe_config *c);
bool scribe_libs_counts_wrapped(const struct scribe_config *c);
/* Path of the library that counts inside programs. False: not used, or the path is too long. */
bool scribe_libs_wrap_library(const struct scribe_config *c, char *ret_path, size_t cap);

#endif
