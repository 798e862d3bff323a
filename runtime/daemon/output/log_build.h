/* SPDX-License-Identifier: BSD-3-Clause */
/* From what is known of a unit to the records of its log. */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_BUILD_H
#define RUNTIME_DAEMON_OUTPUT_LOG_BUILD_H

#include "logfmt/records/bundle.h"
#include "runtime/daemon/state/daemon.h"

/* Files of every rank, reduced over ranks, from this daemon's memory. */
int scribe_log_build_deferred(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns,
			   struct scribe_bundle *b, uint64_t *partial);
/* I/O since FETCH, added to the ranks' own records that are in the bundle. */
int scribe_log_build_late(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns,
		       struct scribe_bundle *b, uint64_t *partial);
/* One PROCESS record a process. */
int scribe_log_build_processes(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			    uint64_t base_ns);
/* What only the daemon itself can ask of the kernel: for the LEDGER record, wherever that is made. */
struct scribe_log_account {
	struct scribe_ledger ledger;
	uint64_t partial; /* bits of partial_flag that it asks for */
	pid_t pid;        /* whose processor time that is */
	double cpu, kernel_memory, misses;
};

/* All of it but ledger and partial (scribe_commit_partial). */
void scribe_log_build_account(const struct scribe_job *job, struct scribe_log_account *a);
/* The LEDGER record of this host. */
int scribe_log_build_ledger(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			 const struct scribe_log_account *a);
/* Name of a process or ledger record; 0 when `rec` is of another module. */
size_t scribe_log_build_name(const struct scribe_job *job, const struct scribe_bundled *rec, char *ret,
			  size_t cap);

#endif
