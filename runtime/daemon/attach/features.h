/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_ATTACH_FEATURES_H
#define RUNTIME_DAEMON_ATTACH_FEATURES_H

#include <stdbool.h>

/*
 * `ioscribed --probe`: what a job needs, one line per part, fields separated by tabs: part, "ok" or "failed", text,
 * cause (bpf/user/refusal.h). Returns the exit code; 1: nothing can be traced.
 */
int scribe_probe_print(bool verbose);
/*
 * `ioscribed --features`: tries all ways of tracing; lines: name, "ok", "refused" or "untried", what it is, error,
 * what is lost without it.
 */
int scribe_features_print(bool verbose);

#endif
