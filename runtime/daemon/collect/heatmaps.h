/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time of ranks (HEATMAP): added up where records are drained, for POSIX,
 * MPI-IO and STDIO, and made into the log's records with bins of one width. Must not
 * know how bins are filled.
 */
#ifndef RUNTIME_DAEMON_COLLECT_HEATMAPS_H
#define RUNTIME_DAEMON_COLLECT_HEATMAPS_H

#include "logfmt/records/bundle.h"
#include "logfmt/rules/heat_rules.h"
#include "runtime/daemon/state/daemon.h"

/*
 * A shard of a record of this module, drained for the rank of `p`: its bin, its table (NULL: it
 * has none), and the shard itself for its times. Other modules have no heatmap.
 */
void scribe_heatmaps_add(struct scribe_process *p, int module, const struct scribe_heat *heat,
			 const struct scribe_heat_table *table, const struct scribe_posix_shard *shard);
void scribe_heatmaps_forget(struct scribe_rank *r);

/* Where bins of this process best begin, CLOCK_MONOTONIC; 0: not known. */
uint64_t scribe_heatmaps_base(const struct scribe_process *p);
/* The kernel's bins of this process shall begin there. */
void scribe_heatmaps_anchor(struct scribe_daemon *d, struct scribe_process *p);

/* The unit's records into its bundle: bins count from base_ns on and reach to end_ns. */
int scribe_heatmaps_gather(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns, uint64_t end_ns,
			   struct scribe_bundle *b, uint64_t *partial);
/* The name of such a record into `ret`; 0: the record is none. */
size_t scribe_heatmaps_name(const struct scribe_bundled *rec, char *ret, size_t cap);

#endif
