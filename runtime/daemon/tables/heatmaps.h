/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes over time (HEATMAP) per rank for POSIX, MPI-IO and STDIO. */
#ifndef RUNTIME_DAEMON_TABLES_HEATMAPS_H
#define RUNTIME_DAEMON_TABLES_HEATMAPS_H

#include "logfmt/records/bundle.h"
#include "logfmt/rules/heat_rules.h"
#include "runtime/daemon/state/daemon.h"

/* Adds a drained shard: bin, table (may be NULL), and its times. Ignores other modules. */
void scribe_heatmaps_add(struct scribe_process *p, int module, const struct scribe_heat *heat,
			 const struct scribe_heat_table *table, const struct scribe_posix_shard *shard);
void scribe_heatmaps_forget(struct scribe_rank *r);

/* Preferred start of the bins, CLOCK_MONOTONIC; 0: not known. */
uint64_t scribe_heatmaps_base(const struct scribe_process *p);
/* Sets it in the kernel. */
void scribe_heatmaps_anchor(struct scribe_daemon *d, struct scribe_process *p);

/* The unit's records, with bins from base_ns to end_ns. */
int scribe_heatmaps_gather(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns, uint64_t end_ns,
			   struct scribe_bundle *b, uint64_t *partial);
/* 0: not a heatmap. */
size_t scribe_heatmaps_name(const struct scribe_bundled *rec, char *ret, size_t cap);

#endif
