/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_BUILD_H
#define RUNTIME_DAEMON_OUTPUT_LOG_BUILD_H

#include "logfmt/records/bundle.h"
#include "runtime/daemon/state/daemon.h"

#define SCRIBE_LOG_BUILD_NAME 4352 /* a mount point and the host */

/* All records of the unit from the daemon's memory, reduced over the ranks. */
int scribe_log_build_deferred(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns,
			      struct scribe_bundle *b, uint64_t *partial);
/* Records since the ranks fetched theirs, added to those already in the bundle. */
int scribe_log_build_late(struct scribe_job *job, struct scribe_log_unit *u, uint64_t base_ns, struct scribe_bundle *b,
			  uint64_t *partial);
/* Input of the records of a node that only the daemon itself can read. */
struct scribe_log_account {
	struct scribe_ledger ledger;
	uint64_t partial; /* bits of partial_flag */
	pid_t pid;        /* process of `cpu` */
	double cpu, kernel_cpu, kernel_memory, misses;
	uint32_t call_ns;                                     /* scribe_bpf_call_ns */
	struct scribe_mount_totals mount[SCRIBE_MOUNTS_KEPT]; /* since the job began */
};

/* All but ledger and partial (scribe_commit_partial). */
void scribe_log_build_account(const struct scribe_job *job, struct scribe_log_account *a);
int scribe_log_build_processes(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			       const struct scribe_log_account *a, uint64_t base_ns);
int scribe_log_build_ledger(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_unit *u,
			    const struct scribe_log_account *a);
int scribe_log_build_mounts(struct scribe_job *job, struct scribe_bundle *b, const struct scribe_log_account *a);
/* Name of a process, ledger, mount or heatmap record; 0: other modules. */
size_t scribe_log_build_name(const struct scribe_job *job, const struct scribe_bundled *rec, char *ret, size_t cap);

#endif
