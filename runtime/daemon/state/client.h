/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection, and what it is in the middle of.
 */
#ifndef RUNTIME_DAEMON_STATE_CLIENT_H
#define RUNTIME_DAEMON_STATE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/proto.h"
#include "runtime/daemon/base/send_queue.h"
#include "runtime/daemon/privsep/snapshot.h"
#include "runtime/daemon/state/job.h"

struct scribe_check; /* control/log_check.h */

/* Directories of a log being made, or what stands under its name removed (log_path.c). */
struct scribe_preparing {
	char path[SCRIBE_PATH_MAX];
	enum { SCRIBE_PREPARE, SCRIBE_PREPARE_DAYS, SCRIBE_PREPARE_OWN } stage;
	struct scribe_helper helper; /* who is asked */
};

/* A connection: of the runtime in a traced process, or of a command. */
struct scribe_client {
	uint64_t id; /* no other has or had it */
	int fd;
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool own;                 /* the private daemon's `ioscribe run` */
	bool traces;              /* has opened a window on a job (segment_windows.h) */
	bool publishes;           /* gets the operations of a job (collect/publish.h) */
	int trace_log;            /* memory file of its log, until that is sent; 0 none */
	uint64_t trace_sent;      /* bytes of it */
	struct scribe_snapshot trace_copy; /* of the daemon, which builds that log */
	struct scribe_msg_traced traced;   /* what is said of it when it is handed over */
	uint64_t told_building_ns; /* when it was last told that its job's log is being built */
	bool noticed;             /* what it is refused is a line of the service's log */
	struct scribe_job *run;  /* begun over this connection by RUN_BEGIN; NULL none */
	struct scribe_check *check; /* asked for (log_check.h); NULL none */
	struct scribe_job *asks; /* wants to hear of this job's logs when it is over; NULL none */
	pid_t enrols;             /* this process, once what it needs is known; 0 none */
	unsigned awaits;          /* this answer comes when links are made (syscall_attach.h), 0 none */
	uint64_t awaits_until_ns; /* or then */
	struct scribe_job *job; /* of the peer's process, once HELLO has come */
	uint32_t proc_id;          /* of the peer's process, once HELLO has come */
	int64_t rank;             /* it speaks for, -1 none */
	uint64_t known_at;        /* its message is read when the event ring has been taken up to here; 0 none waits */
	bool gone;
	void (*lost)(struct scribe_daemon *d, struct scribe_client *c); /* its conversation ends; NULL: none */
	struct scribe_send_queue send_queue;        /* answers that it has not taken; until it has, its messages wait */
	bool watched_out;                   /* for when it takes more */
	uint64_t moved_ns;                  /* when it last said or took something */
	struct scribe_msg_fetch_ok *answer; /* to its FETCH, until the other ranks have come; NULL none */
	int image;                          /* goes with it */
	bool fetching;                      /* its FETCH waits for verdicts of the job's patterns, */
	uint64_t waits_for;                 /* so many of them; */
	struct scribe_msg_live_request look;        /* what it has asked (live_session.c); `what` 0: nothing */
	struct scribe_preparing *preparing; /* or for the log's place; NULL */
	struct scribe_client *next;
};

#endif
