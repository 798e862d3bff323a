/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the daemon, used from its one event loop. Must not hold code. */
#ifndef RUNTIME_DAEMON_STATE_DAEMON_H
#define RUNTIME_DAEMON_STATE_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/user/load.h"
#include "runtime/daemon/base/iteration_times.h"
#include "runtime/daemon/segments/segment_store.h"
#include "runtime/daemon/state/client.h"
#include "runtime/daemon/state/job.h"

struct scribe_slot_name {
	uint32_t generation;
	uint32_t job;  /* index of the job that owns the name entry */
	bool untraced; /* a pattern excludes its single operations */
	struct scribe_name_entry *name;
	uint64_t calls_seen; /* tables/folder_load.h */
};

#define SCRIBE_JOBS_OF_ROOT    24u
#define SCRIBE_CLIENTS_MAX     4096u
#define SCRIBE_CLIENTS_OF_ROOT 256u /* of these, reserved for root */
#define SCRIBE_NAMES_ROOTS     64u

struct scribe_libs;     /* attach/library_probes.h */
struct scribe_receiver; /* state/receivers.h */

/* Quotas per user: name, limit, unit. */
#define SCRIBE_QUOTAS(X) \
	X(CONNECTIONS, user_connections, c->user_connections, "connections") \
	X(JOBS, user_jobs, c->user_jobs, "jobs") /* that the user has begun */ \
	/* of connections, counted streams, journals, helpers */ \
	X(DESCRIPTORS, user_descriptors, scribe_limits_descriptors() / 5, "descriptors") \
	X(MIB, user_mib, d->service->user_mib, "MiB of journals and answers") \
	X(RECORDS, user_records, c->user_records ? c->user_records : c->records / 2, "records") /* of all jobs */ \
	X(FILES, user_files, c->user_files, "files") /* in logs that are not written yet */ \
	X(PROCESSES, user_processes, c->user_processes ? c->user_processes : c->processes / 2, "processes") \
	X(HELPERS, user_helpers, 512, "helpers") /* processes with the user's identity */ \
	X(HELPER_SHARE, user_helper_share, c->user_helper_share, "% of a processor for helpers") /* over 10 s */ \
	X(SPOOL, user_spool_mib, c->user_spool_mib, "MiB of logs in the spool")                  /* counted at each */

enum scribe_quota {
#define SCRIBE_X(id, name, limit, what) SCRIBE_QUOTA_##id,
	SCRIBE_QUOTAS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_NQUOTAS
};

struct scribe_daemon_ops {
	bool (*has_to_say)(const struct scribe_daemon *d);
	void (*report)(struct scribe_job *w);
	void (*windows_closed)(struct scribe_job *w);
	/* The search for this client's libraries has ended. */
	void (*go_on)(struct scribe_daemon *d, uint64_t client);
	/* 0, or -EDQUOT with a message. */
	int (*user_may)(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q, struct scribe_err *err);
};

struct scribe_service {
	char dir[96];
	int pid_file;                /* locked while the daemon runs */
	struct scribe_config config; /* initial, of every job */
	const char *config_file;     /* NULL: none */
	bool stay, pin, finish;
	uint64_t user_mib; /* of journals and answers */
	bool failed;       /* exits to be restarted */
	bool passed;       /* by the service manager */
	uint64_t started_ns;
	uint64_t watchdog_ns, next_ping_ns; /* 0: no watchdog */
};

struct scribe_live {
	unsigned waiting; /* upper limit of pending requests */
	uint64_t last;    /* id */
	int64_t saved_ns;
	uint64_t counted_ns;
};

struct scribe_daemon {
	const struct scribe_daemon_ops *ops;
	const struct scribe_receiver *const *receivers; /* ends with NULL; NULL: no job yet */
	struct scribe_bpf *bpf;                         /* NULL: no job yet */
	uint64_t calls_since_ns;                 /* programs are attached at system calls since then; 0: they are not */
	uint64_t calls_until_ns, calls_retry_ns; /* to detach; to retry */
	bool calls_reported;                     /* a file reports this to the runtime */
	struct scribe_libs *libs;
	struct scribe_job *jobs;                 /* in order of start */
	struct scribe_job *job[SCRIBE_JOBS_MAX]; /* the same by index; NULL: free */
	struct scribe_map by_tgid;               /* living processes of all jobs */
	struct scribe_map streams;               /* by proc_id: memory of counted streams */
	struct scribe_memory *memories;          /* all of it (shm_counters.c) */
	struct scribe_found_memory *found;       /* process not known */
	uint32_t nmemories, nfound;
	struct scribe_slot_name *slot;
	uint32_t slots, processes;
	uint32_t tracing; /* jobs with single operations */
	struct scribe_segpool segpool;
	int epoll, listen;
	int root; /* root directory of the machine; 0: the same as ours */
	struct scribe_names_root {
		uint32_t proc_id;          /* 0: unused */
		int fd;                    /* negative: failed */
	} names_roots[SCRIBE_NAMES_ROOTS]; /* of processes; empty between loop iterations */
	char socket_dir[64], socket[108];
	struct scribe_spool *spool;     /* NULL: undeliverable logs go to /tmp */
	bool poll_fast;                 /* do not sleep long */
	bool poll_now;                  /* do not sleep */
	struct scribe_service *service; /* NULL: private daemon of one command */
	struct scribe_client *clients;
	uint64_t client_ids;
	struct scribe_iterations iterations;
	struct scribe_live looks;
	struct scribe_metrics *metrics; /* NULL: not configured */
	uint64_t drain_until_ns;
	uint64_t events_until_ns; /* of scribe_events_take, while it runs */
	size_t held_bytes;
	struct scribe_map user_times;
	uint64_t user_shared_ns, user_timed_ns;
	uint64_t jobs_started;
	uint32_t resuming; /* 1 + index of the resumed job; 0: none */
	bool until_idle;   /* exit when all jobs are over */
	bool sandboxed;
	bool quit;
	volatile int under_way;    /* a job has started */
	volatile int asked_to_end; /* by a signal: write logs, then exit */
	bool verbose;
};

static inline bool scribe_daemon_has_pending(const struct scribe_daemon *d)
{
	return d->ops && d->ops->has_to_say(d);
}

static inline void scribe_daemon_report(struct scribe_job *job)
{
	if (job->daemon->ops)
		job->daemon->ops->report(job);
}

static inline void scribe_daemon_windows_closed(struct scribe_job *job)
{
	if (job->daemon->ops)
		job->daemon->ops->windows_closed(job);
}

static inline void scribe_daemon_go_on(struct scribe_daemon *d, uint64_t client)
{
	if (d->ops)
		d->ops->go_on(d, client);
}

static inline int scribe_daemon_may(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q,
				    struct scribe_err *err)
{
	return d->ops ? d->ops->user_may(d, uid, q, err) : 0;
}

#endif
