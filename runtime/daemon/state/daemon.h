/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon as its parts see it: jobs, connections, the kernel's side. One thread; everything here
 * is used from its event loop. Must not hold code: what happens stands in the rooms that use it.
 */
#ifndef RUNTIME_DAEMON_STATE_DAEMON_H
#define RUNTIME_DAEMON_STATE_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/user/load.h"
#include "runtime/daemon/base/turn_times.h"
#include "runtime/daemon/segments/segment_store.h"
#include "runtime/daemon/state/client.h"
#include "runtime/daemon/state/job.h"

/* The name last announced for a slot. */
struct scribe_slot_name {
	uint32_t generation;
	uint32_t job; /* the job that the name entry belongs to */
	bool untraced; /* a pattern leaves out its operations one by one */
	struct scribe_name_entry *name;
};

#define SCRIBE_JOBS_OF_ROOT    24u /* that users cannot take */
#define SCRIBE_CLIENTS_MAX     4096u
#define SCRIBE_CLIENTS_OF_ROOT 256u /* of these: that users cannot take */
#define SCRIBE_NAMES_ROOTS     64u

struct scribe_libs; /* collect/library_probes.h */

/* What one user may take of a service: its name, the limit (a key of the configuration or a number), what it counts. */
#define SCRIBE_QUOTAS(X)                                                                                      \
	X(CONNECTIONS, user_connections, c->user_connections, "connections")                                  \
	X(JOBS, user_jobs, c->user_jobs, "jobs") /* that the user has begun */                                \
	/* of connections, counted streams, journals, helpers */                                              \
	X(DESCRIPTORS, user_descriptors, scribe_limits_descriptors() / 5, "descriptors")                      \
	X(MIB, user_mib, 512, "MiB of journals and answers")                                                  \
	X(RECORDS, user_records, c->user_records ? c->user_records : c->records / 2, "records") /* of all jobs */ \
	X(FILES, user_files, c->user_files, "files") /* in logs that are not written yet */                   \
	X(PROCESSES, user_processes, c->user_processes ? c->user_processes : c->processes / 2, "processes")   \
	X(HELPERS, user_helpers, 512, "helpers") /* processes with the user's identity */                     \
	X(HELPER_SHARE, user_helper_share, c->user_helper_share, "% of a processor for helpers") /* over 10 s */ \
	X(SPOOL, user_spool_mib, c->user_spool_mib, "MiB of logs in the spool") /* counted at each */

enum scribe_quota {
#define SCRIBE_X(id, name, limit, what) SCRIBE_QUOTA_##id,
	SCRIBE_QUOTAS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_NQUOTAS
};

/*
 * What the daemon's collecting and writing side asks of the side that speaks with others (control/):
 * NULL in tests that have none.
 */
struct scribe_daemon_ops {
	/* Is there anything left to be said to anybody? */
	bool (*has_to_say)(const struct scribe_daemon *d);
	/* Tell all who have asked for it what logs the job has written. */
	void (*report)(struct scribe_job *w);
	/* Windows on the job (segment_windows.h) are closed: their logs go to who asked for them. */
	void (*windows_closed)(struct scribe_job *w);
	/* What the process needs that this client wants to enrol is known, or nobody tells. */
	void (*go_on)(struct scribe_daemon *d, uint64_t client);
	/* May this user take one more? 0, or -EDQUOT with a line in err. */
	int (*user_may)(const struct scribe_daemon *d, uid_t uid, enum scribe_quota q, struct scribe_err *err);
};

struct scribe_service {
	char dir[96]; /* so that the socket's name has its room */
	int pid_file; /* locked while the daemon lives */
	struct scribe_config config; /* what every job begins with */
	const char *config_file; /* that it was read from, NULL: none */
	bool stay, pin, finish;
	bool failed; /* it ends to be started again */
	bool passed; /* the socket is the service manager's */
	uint64_t started_ns;
	uint64_t watchdog_ns, next_ping_ns; /* 0: the service manager has no watchdog */
};

/* Who looks at running jobs, and the time that this may take (live_session.c). */
struct scribe_live {
	unsigned waiting; /* at most so many wait for an answer */
	uint64_t last;    /* connection that had one last */
	int64_t saved_ns;
	uint64_t counted_ns;
};

struct scribe_daemon {
	const struct scribe_daemon_ops *ops;
	struct scribe_bpf *bpf;                    /* NULL until a job is begun */
	uint64_t calls_since_ns; /* syscall_attach.h: programs stand at system calls, 0: they do not; */
	uint64_t calls_until_ns, calls_retry_ns;   /* not taken off, not tried again before */
	bool calls_told;                           /* to the runtime, by a file */
	struct scribe_libs *libs;                  /* library modules, NULL when there are none */
	struct scribe_job *jobs;                 /* in order of beginning */
	struct scribe_job *job[SCRIBE_JOBS_MAX]; /* the same by index; NULL: free */
	struct scribe_map by_tgid;                 /* living processes of all jobs */
	struct scribe_map streams;                 /* by proc_id: memory of streams counted inside */
	struct scribe_memory *memories;            /* all of it (shm_counters.c) */
	struct scribe_found_memory *found;         /* not yet known whose */
	uint32_t nmemories, nfound;
	struct scribe_slot_name *slot; /* by slot index */
	uint32_t slots, processes;
	uint32_t tracing; /* jobs whose single operations are kept */
	struct scribe_segpool segpool;
	int epoll, listen;
	int root; /* the machine's, for what a service manager shows us is less; 0: our own is it */
	struct scribe_names_root {
		uint32_t proc_id; /* 0: none */
		int fd;           /* negative: it could not be had */
	} names_roots[SCRIBE_NAMES_ROOTS]; /* root directories of processes whose names are taken; none between turns */
	char socket_dir[64], socket[108];
	struct scribe_spool *spool;     /* NULL none: what has no place goes to /tmp */
	bool poll_fast;                     /* logs are on their way */
	struct scribe_service *service; /* service.h; NULL: the private daemon of one command */
	struct scribe_client *clients;
	uint64_t client_ids;
	struct scribe_turns turns;
	struct scribe_live looks;
	struct scribe_metrics *metrics; /* control/metrics.h; NULL: nobody wants any */
	uint64_t drain_until_ns;  /* of this turn: no more records of ended processes are taken after that, 0: all */
	uint64_t events_until_ns; /* of scribe_events_take, while it runs */
	size_t held_bytes;        /* events of all jobs that wait for a name (held_events.h) */
	struct scribe_map user_times; /* user_quota.c */
	uint64_t user_shared_ns, user_timed_ns;
	uint64_t jobs_started;    /* jobs of all times */
	uint32_t resuming; /* 1 + the place of the job being taken up from an earlier daemon, 0 none */
	bool until_idle;   /* go when every job is over */
	bool sandboxed;     /* it has given up what it needs no more */
	bool quit;
	volatile int under_way;    /* a job has begun: it is to be gone on with, whoever began it */
	volatile int asked_to_end; /* by a signal: write what there is, then go */
	bool verbose;
};


/* By `ops`, where there are any. */
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
