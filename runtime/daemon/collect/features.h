/* SPDX-License-Identifier: BSD-3-Clause */
/* What this kernel and this process can do, found by doing it once. */
#ifndef RUNTIME_DAEMON_COLLECT_FEATURES_H
#define RUNTIME_DAEMON_COLLECT_FEATURES_H

#include <stdbool.h>

/*
 * `ioscribed --probe`: do what a job needs (become the user, load, attach, probe
 * libraries) with the daemon's own privileges, in lines of four fields with tabs:
 * part, "ok" or "failed", text, the cause's name (bpf/user/refusal.h). Exit code: 1 where nothing can be traced.
 */
int scribe_probe_print(bool verbose);
/*
 * `ioscribed --features`: every way that there is, each tried, a line each: name, "ok"
 * or "refused" or "untried", what it is, why it is refused, what is lost without it.
 */
int scribe_features_print(bool verbose);

#endif
