/* SPDX-License-Identifier: BSD-3-Clause */
/* From what is known of a unit to the records of its log. */
#ifndef RUNTIME_DAEMON_GATHER_H
#define RUNTIME_DAEMON_GATHER_H

#include "logfmt/bundle.h"
#include "runtime/daemon/daemon.h"

/* Files of every rank, reduced over ranks, from this daemon's memory. */
int scribe_gather_deferred(struct scribe_work *w, struct scribe_unit *u, uint64_t base_ns,
			   struct scribe_bundle *b, uint64_t *partial);
/* I/O since FETCH, added to the ranks' own records that are in the bundle. */
int scribe_gather_late(struct scribe_work *w, struct scribe_unit *u, uint64_t base_ns,
		       struct scribe_bundle *b, uint64_t *partial);
/* A rank's fetched records alone. */
int scribe_gather_rank(struct scribe_work *w, struct scribe_rank *r, uint64_t base_ns,
		       struct scribe_bundle *b, uint64_t *partial);
/* One PROCESS record a process. */
int scribe_gather_processes(struct scribe_work *w, struct scribe_bundle *b, const struct scribe_unit *u,
			    uint64_t base_ns);
/* The LEDGER record of this host. */
int scribe_gather_ledger(struct scribe_work *w, struct scribe_bundle *b, const struct scribe_unit *u,
			 const struct scribe_ledger *ledger);
/* Name of a process or ledger record; 0 when `rec` is of another module. */
size_t scribe_gather_name(const struct scribe_work *w, const struct scribe_bundled *rec, char *ret,
			  size_t cap);

#endif
