/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals, never names of files. */
#ifndef RUNTIME_DAEMON_OUTPUT_METRICS_H
#define RUNTIME_DAEMON_OUTPUT_METRICS_H

#include "runtime/daemon/state/daemon.h"

/* NULL: no file is configured, or out of memory. */
struct scribe_metrics *scribe_metrics_open(const struct scribe_config *c);
struct scribe_metrics *scribe_metrics_free(struct scribe_metrics *m);
void scribe_metrics_tick(struct scribe_daemon *d);

#endif
