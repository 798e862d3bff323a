/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection and its pending requests. */
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

struct scribe_preparing {
	char path[SCRIBE_PATH_MAX];
	enum { SCRIBE_PREPARE, SCRIBE_PREPARE_DAYS, SCRIBE_PREPARE_OWN } stage;
	struct scribe_helper helper;
};

struct scribe_client {
	uint64_t id; /* never reused */
	int fd;
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool own;    /* `ioscribe run` of a private daemon */
	bool traces; /* has a window on a job */
	bool publishes;
	int trace_log; /* memory file of the window's log until it is sent; 0: none */
	uint64_t trace_sent;
	struct scribe_snapshot trace_copy; /* builds that log */
	struct scribe_msg_traced traced;
	uint64_t building_sent_ns; /* last SCRIBE_MSG_BUILDING */
	bool noticed;              /* refusals are logged */
	struct scribe_job *run;    /* job of RUN_BEGIN; NULL: none */
	struct scribe_check *check;
	struct scribe_job *asks; /* its report is sent here; NULL: none */
	pid_t enrols;            /* process of a pending ENROL; 0: none */
	unsigned awaits;         /* type of a delayed answer; 0: none */
	uint64_t awaits_until_ns;
	struct scribe_job *job; /* of the peer's process, set by HELLO */
	uint32_t proc_id;       /* set by HELLO */
	int64_t rank;           /* -1: none */
	uint64_t known_at;      /* position in the event ring to wait for; 0: none */
	bool gone;
	void (*lost)(struct scribe_daemon *d, struct scribe_client *c);
	struct scribe_send_queue send_queue; /* requests wait until it is empty */
	bool watched_out;                    /* epoll waits until the socket can be written */
	uint64_t moved_ns;                   /* last progress */
	struct scribe_msg_fetch_ok *answer;  /* to FETCH; NULL: none */
	int image;
	bool fetching;                       /* FETCH waits for exclusion checks */
	uint64_t waits_for;                  /* number of exclusion checks that must be answered */
	struct scribe_msg_live_request look; /* `what` 0: none */
	struct scribe_preparing *preparing;  /* for FETCH; NULL: none */
	struct scribe_client *next;
};

#endif
