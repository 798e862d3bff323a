/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics of a service in a file, for a collector that reads text files (Prometheus' node exporter): totals of
 * each job and how the daemon fares, no names of files.
 */
#ifndef RUNTIME_DAEMON_CONTROL_METRICS_H
#define RUNTIME_DAEMON_CONTROL_METRICS_H

#include "runtime/daemon/state/daemon.h"

/* Where the configuration names a file. NULL: it names none, or memory is out. */
struct scribe_metrics *scribe_metrics_open(const struct scribe_config *c);
struct scribe_metrics *scribe_metrics_free(struct scribe_metrics *m);
/* Once a turn: a piece of the counting, or of the writing. */
void scribe_metrics_tick(struct scribe_daemon *d);

#endif
