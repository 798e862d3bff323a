/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon's files share: the daemon, a traced job ("work"), a connected
 * client. One thread; every function here is called from its event loop.
 */
#ifndef RUNTIME_DAEMON_DAEMON_H
#define RUNTIME_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/load.h"
#include "logfmt/base/proto.h"
#include "runtime/daemon/config.h"
#include "runtime/daemon/hand.h"
#include "runtime/daemon/judge.h"
#include "runtime/daemon/look.h"
#include "runtime/daemon/journal.h"
#include "runtime/daemon/mounts.h"
#include "runtime/daemon/names.h"
#include "runtime/daemon/outbox.h"
#include "runtime/daemon/shapes.h"
#include "runtime/daemon/records.h"
#include "runtime/daemon/worlds.h"

/* The name last announced for a slot. */
struct scribe_slot_name {
	uint32_t birth;
	uint32_t job; /* whose label it is */
	struct scribe_label *label;
};

/* What a scheduler says of a job; all zero for `ioscribe run`. */
struct scribe_job_spec {
	char id[128];        /* empty: no scheduler's job */
	char cgroup[4096];   /* the job's cgroup, absolute below the cgroup file system; empty: none */
	char match_env[256]; /* NAME=VALUE that its processes have in their environment; empty: none */
	uint32_t below;      /* process id of whom they descend from; 0: anybody */
	uint32_t pid;        /* process to enrol at once; 0: none */
	char node[64];       /* this node's name; empty: the host's */
	uint32_t nodes;      /* of how many nodes; 0: not told */
	uint32_t attempt;    /* how often the job was started before */
	uint32_t deadline_s; /* for END, where that tells none */
	bool last_node;      /* END: the other nodes have ended theirs, or never will */
};

/*
 * A job being traced: what `ioscribe run` asked for, or a scheduler's job. It
 * ends when its log is written; it is kept while processes of it go on (`over`).
 */
struct scribe_work {
	struct scribe_daemon *daemon;
	struct scribe_work *next;
	uint32_t index; /* in the kernel's job table, and in daemon->work */
	struct scribe_job_spec spec;
	struct scribe_config config;
	struct scribe_hand hand;
	struct scribe_look look;
	struct scribe_judge judge;
	struct scribe_worlds worlds;
	struct scribe_labels labels;
	struct scribe_shapes shapes;
	struct scribe_mounts mounts;
	struct scribe_attrs *attrs; /* attrs.h; NULL: nobody was asked */
	char host[64];              /* the node's name */
	int64_t realtime_ns;        /* CLOCK_REALTIME - CLOCK_MONOTONIC, taken once */
	uint64_t begun_ns;
	uint32_t first_serial;      /* of CMD */
	int32_t caller;             /* `ioscribe run` that began it, 0 none */
	uint64_t caller_ticks;      /* and when that was started */
	bool awaited;               /* it is to come back: its job is of an earlier daemon */
	int64_t number;             /* of the run, where no scheduler gives one: CMD's process id */
	uint32_t nlogs;             /* paths given out */
	struct scribe_msg_log *log; /* written, in order */
	size_t logs, logs_room;
	uint64_t drain_ns;                  /* spent collecting records */
	uint64_t misses_before;             /* runs of our programs skipped when the job began */
	uint64_t memory_out;                /* allocations that failed: something is missing */
	uint64_t names_lost;                /* records whose name has never come */
	uint64_t names_as_given;            /* links in them not followed: no answer in time */
	uint64_t excluded_late;             /* operations recorded until a name was known to be excluded */
	uint64_t streams_stopped;           /* whose calls are not counted any more: they cost too much */
	uint64_t lost_seen;                 /* ledger's EVENT_LOST + ENV_LOST at the last look */
	bool told;                          /* a process has brought settings in its environment (jobenv.h) */
	bool ending;                        /* END has come */
	uint64_t closed_ns;                 /* nothing more comes into it, 0: it goes on */
	bool finishing;                     /* no more is recorded; its logs are on their way */
	struct scribe_delivery *deliveries; /* deliver.c */
	bool told_begun,
		told_done; /* to the job's other nodes: that there is something, and that it is delivered */
	bool over;         /* its logs are written; what its processes still do is not recorded */
	uint64_t ending_deadline_ns;
	struct scribe_journal journal; /* keep.h; closed: the job does not survive this daemon */
};

/* Directories of a log being made, or what stands under its name removed (place.c). */
struct scribe_preparing {
	char path[SCRIBE_PATH_MAX];
	enum { SCRIBE_PREPARE, SCRIBE_PREPARE_DAYS, SCRIBE_PREPARE_OWN } stage;
	struct scribe_hand hand; /* who is asked */
};

/* A connection: of the runtime in a traced process, or of a command. */
struct scribe_client {
	int fd;
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool own;                 /* the private daemon's `ioscribe run` */
	bool noticed;             /* what it is refused is a line of the service's log */
	struct scribe_work *run;  /* begun over this connection by RUN_BEGIN; NULL none */
	struct scribe_work *asks; /* wants to hear of this job's logs when it is over; NULL none */
	struct scribe_work *work; /* of the peer's process, once HELLO has come */
	uint32_t serial;          /* of the peer's process, once HELLO has come */
	int64_t rank;             /* it speaks for, -1 none */
	bool gone;
	struct scribe_outbox outbox;        /* answers that it has not taken; until it has, it is not heard */
	bool watched_out;                   /* for when it takes more */
	uint64_t moved_ns;                  /* when it last said or took something */
	struct scribe_msg_fetch_ok *answer; /* to its FETCH, until the other ranks have come; NULL none */
	int image;                          /* goes with it */
	bool fetching;                      /* its FETCH waits for verdicts of the job's patterns, */
	uint64_t waits_for;                 /* so many of them; */
	struct scribe_preparing *preparing; /* or for the log's place; NULL */
	struct scribe_client *next;
};

struct scribe_attrs;   /* attrs.h */
struct scribe_libs;    /* libs.c */
struct scribe_service; /* service.h */

struct scribe_daemon {
	struct scribe_bpf *bpf;                    /* NULL until a job is begun */
	struct scribe_libs *libs;                  /* library modules, NULL when there are none */
	struct scribe_work *works;                 /* in order of beginning */
	struct scribe_work *work[SCRIBE_JOBS_MAX]; /* the same by index; NULL: free */
	struct scribe_map by_tgid;                 /* living processes of all jobs */
	struct scribe_map streams;                 /* by serial: memory of streams counted inside */
	struct scribe_memory *memories;            /* all of it (streams.c) */
	struct scribe_found_memory *found;         /* not yet known whose */
	uint32_t nmemories, nfound;
	struct scribe_slot_name *slot; /* by slot index */
	uint32_t slots, processes;
	int epoll, listen;
	int root; /* the machine's, for what a service manager shows us is less; 0: our own is it */
	char socket_dir[64], socket[108];
	struct scribe_spool *spool;     /* NULL none: what has no place goes to /tmp */
	bool hurry;                     /* logs are on their way */
	struct scribe_service *service; /* service.c; NULL: the private daemon of one command */
	struct scribe_client *clients;
	uint64_t begun;    /* jobs of all times */
	uint32_t resuming; /* 1 + the place of the job being taken up from an earlier daemon, 0 none */
	bool until_idle;   /* go when every job is over */
	bool confined;     /* it has given up what it needs no more */
	bool quit;
	volatile int under_way;    /* a job has begun: it is to be gone on with, whoever began it */
	volatile int asked_to_end; /* by a signal: write what there is, then go */
	bool verbose;
};

uint64_t scribe_now_ns(void); /* CLOCK_MONOTONIC */

/* ---- events.c: what the kernel tells ---- */
/* Take all waiting events. Negative only when the ring is broken. */
int scribe_events_take(struct scribe_daemon *d);
/* Ends that have waited for what the job's patterns say. */
void scribe_events_ends(struct scribe_work *w);
/* Find processes whose events were lost, by looking at the shared table. */
void scribe_events_sweep(struct scribe_daemon *d);
struct scribe_process *scribe_events_enrolled(struct scribe_daemon *d, struct scribe_work *w, uint32_t index,
					      uint32_t serial, pid_t pid);

/* ---- drain.c: from slots to records ---- */
/* The log's module of a slot, by its kind. */
int scribe_drain_module(uint32_t kind);
/* Do the job's rules leave out what a process has of this kind, whatever its name? */
bool scribe_drain_left_out(const struct scribe_process *p, uint32_t kind);
/* Records of an exited process to its rank; its kernel entries are given back. */
int scribe_drain_exited(struct scribe_daemon *d, struct scribe_process *p);
/* The same of a living one, which goes on with fresh records. */
int scribe_drain_living(struct scribe_daemon *d, struct scribe_process *p);

/* What a journal kept of a process's record, added as if drained now. */
int scribe_drain_kept(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_slot_view *view);

/* ---- events.c: names of slots ---- */
/* Give the slot its name, as of that birth. */
void scribe_slot_name_set(struct scribe_daemon *d, struct scribe_work *w, uint32_t slot, uint32_t birth,
			  struct scribe_label *label);
/* The name of a slot as it was at that birth; NULL: none has come. */
struct scribe_label *scribe_slot_label(const struct scribe_daemon *d, uint32_t slot, uint32_t birth);
/* Where a process's records go; NULL: no rank, or memory is out. */
struct scribe_records *scribe_drain_records(struct scribe_process *p);

/* ---- commit.c: from records to a log ---- */
/* Let the log of every unit of the job that is over be written; `all`: of every unit. */
void scribe_commit_due(struct scribe_work *w, bool all);
/* An earlier daemon has written the unit's log (`m`; NULL: there was none to write). */
void scribe_commit_resumed(struct scribe_work *w, uint32_t unit, const struct scribe_msg_log *m);
/* An image of a rank's fetched records: a sealed memfd, or negative. */
int scribe_commit_image(struct scribe_work *w, struct scribe_unit *u, struct scribe_rank *r,
			uint64_t *ret_bytes, uint64_t *ret_partial, struct scribe_err *err);
/* Have all ranks of the world, all of them here, agreed that their log is complete? */
bool scribe_commit_agreed(const struct scribe_unit *u);
/*
 * The unit's whole log into `fd` (a memory file), with what `theirs`, a copy of the
 * ranks' own log, holds (-1 none). Its partial name (SCRIBE_PATH_MAX bytes) in
 * ret_partial, its path and what it holds in m.
 */
int scribe_commit_build(struct scribe_work *w, struct scribe_unit *u, int theirs, int fd, char *ret_partial,
			struct scribe_msg_log *m, struct scribe_err *err);
/* Records that the unit's ranks were handed at MPI_Finalize, into `fd`; 1: there are none. */
int scribe_commit_build_first(struct scribe_work *w, struct scribe_unit *u, int fd, struct scribe_err *err);
/* One more message about a log, empty; NULL: no memory. */
struct scribe_msg_log *scribe_commit_message(struct scribe_work *w);
/* Its records are in its log: they are given back. */
void scribe_commit_forget(struct scribe_work *w, struct scribe_unit *u);
/* Bits of partial_flag that the job's ledger asks for. */
uint64_t scribe_commit_partial(struct scribe_work *w, struct scribe_ledger *ret_ledger);

/* ---- place.c: names of logs ---- */
/* Path of the unit's log until it is complete: "….darshan_partial". */
int scribe_place_partial(struct scribe_work *w, const struct scribe_unit *u, char *ret_path, size_t cap,
			 struct scribe_err *err);
/* What the name of the directory of the job's parts begins with (logfmt/parts.h). */
int scribe_place_stem(const struct scribe_work *w, char *ret_path, size_t cap);
/*
 * Make the directories of logs above; the place of a named file is the user's affair. -EAGAIN:
 * the file system has not answered yet, to be asked again.
 */
int scribe_place_prepare(struct scribe_work *w, const struct scribe_unit *u, struct scribe_preparing *at,
			 struct scribe_err *err);
/*
 * Bytes of a log's path that are the site's directory of logs, below which those of
 * the date belong to root; 0: there are none, or the place is the user's affair.
 */
size_t scribe_place_shared(const struct scribe_work *w, const char *path);
/* Bytes of a log's path as far as the directory that bears the user's name (%u); 0: none does. */
size_t scribe_place_own(const struct scribe_work *w, const char *path);
/* The final name for a partial one. */
int scribe_place_final(const struct scribe_work *w, const char *partial, uint64_t seconds, char *ret_path,
		       size_t cap);
/* Can the job's user write where its logs shall go? Told before CMD starts. */
int scribe_place_check(struct scribe_work *w, struct scribe_err *err);
/* Where a log goes that could not be written to its place: the same name in /tmp. */
int scribe_place_fallback(const char *wanted, char *ret_path, size_t cap);
/* Root process of rank 0 (else of any rank, else CMD); NULL none. */
struct scribe_process *scribe_place_leader(struct scribe_work *w, const struct scribe_unit *u);

/* ---- works.c: jobs, from beginning to end ---- */
/* Load the programs for the pool that `c` asks for, if they are not yet; attached they are with a job. */
int scribe_works_load(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/*
 * Begin a job: its identity, place, kernel entry; the programs are attached (and
 * loaded, if that is still to be done) with the first. `config` is taken over (empty afterwards), also on
 * failure; `spec` may be NULL. The job is the daemon's; it ends by itself some
 * time after scribe_work_end.
 */
int scribe_work_begin(struct scribe_daemon *d, struct scribe_config *config,
		      const struct scribe_job_spec *spec, struct scribe_work **ret_work,
		      struct scribe_err *err);
/*
 * A job by the scheduler's number, as this user may name it: root names every job,
 * first those that root has begun; a user the jobs of the user, first those begun by
 * the user. NULL none.
 */
/* The name of a user who begins a job, in config->user; empty: none is known. */
void scribe_user_name(struct scribe_config *config);
struct scribe_work *scribe_work_by_id(struct scribe_daemon *d, const char *id, uid_t uid);
/* When a process was started, in the kernel's ticks; 0 unknown. */
uint64_t scribe_start_ticks(uint32_t pid);
/*
 * Trace this process and its descendants as part of the job. It is about to execute the
 * last `words` of its command line; 0: nobody knows how many.
 */
int scribe_work_enrol(struct scribe_work *w, pid_t pid, uint32_t words, uint32_t *ret_serial,
		      struct scribe_err *err);
/* Its log is written when its last process has ended, at the latest in grace_ms (UINT32_MAX: no limit). */
void scribe_work_end(struct scribe_work *w, uint32_t grace_ms);
/* Its configuration is another from now on; `alignment_before` stays where records are kept already. */
void scribe_work_changed(struct scribe_work *w, uint32_t alignment_before);
/* A hand of its user. */
int scribe_work_start_hand(const struct scribe_work *w, struct scribe_hand *ret_hand, struct scribe_err *err);
/* The one that writes, started when first needed. */
int scribe_work_hand(struct scribe_work *w, struct scribe_err *err);
/* Another one, for the first does not answer any more. */
int scribe_work_fresh_hand(struct scribe_work *w, struct scribe_err *err);
/* Write the logs of what has ended, report, forget jobs of which nothing is left. */
void scribe_works_tick(struct scribe_daemon *d);
/* Are the jobs left to the next daemon, which is to go on with them? */
bool scribe_works_left(const struct scribe_daemon *d);
void scribe_work_free(struct scribe_work *w);

/* ---- clients.c: connections, and the runtime's conversation ---- */
/* A socket for the runtime of one user's job, in a directory of its own. */
int scribe_clients_listen(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/* A connection that exists already: its `fd` is taken over. NULL: no memory. */
struct scribe_client *scribe_clients_add(struct scribe_daemon *d, int fd);
void scribe_clients_accept(struct scribe_daemon *d);
/* A process has ended: what it handed over before may still wait in its connection. */
void scribe_clients_last_words(struct scribe_daemon *d, struct scribe_process *p);
void scribe_clients_serve(struct scribe_daemon *d, struct scribe_client *c);
/* Serve whatever waits on any connection, without blocking. */
void scribe_clients_serve_all(struct scribe_daemon *d);
void scribe_clients_close(struct scribe_daemon *d);
/* Is there anything left to be said to anybody? */
bool scribe_clients_waiting(const struct scribe_daemon *d);
/* The process that speaks, as far as it is traced; NULL. */
struct scribe_process *scribe_client_peer(struct scribe_daemon *d, struct scribe_client *c);
/* The kernel side ignores this thread's I/O: 0 ends that. */
void scribe_client_mute(struct scribe_daemon *d, const struct scribe_process *p, uint32_t tid);
void scribe_client_hang_up(struct scribe_daemon *d, struct scribe_client *c);
/* Answer with an error; returns a negative code, by which the connection is hung up. */
int scribe_client_refuse(struct scribe_client *c, unsigned status, const char *text);
/* Send, now or when the peer takes it. A negative code: the peer is gone, or takes nothing. */
int scribe_client_send(struct scribe_client *c, unsigned type, const void *payload, size_t bytes);

/* ---- fetch.c: the runtime at MPI_Finalize ---- */
/* Checked messages of a rank; negative: hang up. */
int scribe_fetch_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_fetch *m);
int scribe_fetch_done(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_done *m);
/* Answer the FETCHes of worlds whose ranks have all come, or cannot any more. */
void scribe_fetch_settle(struct scribe_daemon *d);
/* Its connection is gone. */
void scribe_fetch_drop(struct scribe_client *c);
/* Can the ranks of this world not all come any more? */
bool scribe_fetch_in_vain(const struct scribe_unit *u);

/* ---- runlink.c: `ioscribe run` ---- */
/* A checked message of `ioscribe run`; negative: hang up. */
int scribe_runlink_message(struct scribe_daemon *d, struct scribe_client *c,
			   const struct scribe_msg_header *h);
/* What a job of this peer begins with: the service's configuration, locked unless the peer is root. */
int scribe_client_config(struct scribe_daemon *d, const struct scribe_client *c, struct scribe_config *config,
			 struct scribe_err *err);
/* May this peer begin one more job? Users may begin so many each, and not all that there may be. */
int scribe_client_may_begin(const struct scribe_daemon *d, const struct scribe_client *c,
			    struct scribe_err *err);
/* Whatever a user has said: the job is of the peer's user, and within the service's limits. */
void scribe_client_limit(struct scribe_daemon *d, const struct scribe_client *c,
			 struct scribe_config *config);
/* Its connection is gone: the job goes on by itself. */
void scribe_runlink_lost(struct scribe_daemon *d, struct scribe_client *c);
/* Jobs whose `ioscribe run` does not come back, for it is gone too. */
void scribe_runlink_sweep(struct scribe_daemon *d);
/* Begin the job of an earlier daemon again, in its place, by the lines that it was begun by. */
int scribe_runlink_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index,
			  const char *text, size_t bytes, struct scribe_work **ret_work,
			  struct scribe_err *err);
/* Tell all who have asked for it what logs the job has written. */
void scribe_runlink_report(struct scribe_work *w);

/* ---- jobs.c: `ioscribe job` ---- */
/* A checked message of `ioscribe job`; negative: hang up. */
int scribe_jobs_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_header *h);
/* Begin the job of an earlier daemon again, in its place, by the request that it was begun by. */
int scribe_jobs_resume(struct scribe_daemon *d, const struct scribe_client *as, uint32_t index,
		       const char *text, size_t bytes, struct scribe_work **ret_work, struct scribe_err *err);

/* ---- loop.c ---- */
struct scribe_pace {
	uint64_t next_sweep_ns;
	int wait_ms; /* most time until the next look at the kernel's events, while there are jobs */
};

/* Serve until the daemon is to quit. */
int scribe_loop(struct scribe_daemon *d);
/* Once: wait for a message, take events, serve, write logs. */
int scribe_loop_turn(struct scribe_daemon *d, struct scribe_pace *pace);
int scribe_loop_watch(struct scribe_daemon *d, int fd, void *what);
/* Wait until it takes more, instead of until it says more; or that again. */
/* Be woken where the kernel programs run low; who is not comes by a little later. */
void scribe_loop_watch_kernel(struct scribe_daemon *d);
void scribe_loop_watch_out(struct scribe_daemon *d, int fd, void *what, bool out);

#endif
