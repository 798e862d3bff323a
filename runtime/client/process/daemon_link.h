/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime's side of the conversation with the daemon (logfmt/base/proto.h).
 * Every wait is bounded. No connection is held between MPI_Init and
 * MPI_Finalize: a descriptor kept in a program that closes or reuses numbers it
 * did not open would be trouble, and so would one inherited by children.
 */
#ifndef RUNTIME_CLIENT_PROCESS_DAEMON_LINK_H
#define RUNTIME_CLIENT_PROCESS_DAEMON_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

struct scribe_link {
	int sock;     /* -1: not connected */
	void *packet; /* room for one message, mapped */
};

/* What a rank says of itself. */
struct scribe_identity {
	int rank, size;
	enum scribe_mpi_kind mpi;
	char world[SCRIBE_WORLD_MAX]; /* its name, or "" */
};

/* Times are those of scribe_msg_now_ms: all calls end by `deadline`, 0 or -errno. */

/* Connect to the socket named by the environment. */
int scribe_link_open(struct scribe_link *l, int64_t deadline);
void scribe_link_close(struct scribe_link *l);

/* Wait until this process, which has just begun, is recorded (START) or its libraries are probed (PROBED). */
int scribe_link_start(struct scribe_link *l, enum scribe_msg_type what, uint64_t until_ns, int64_t deadline);

int scribe_link_say_hello(struct scribe_link *l, const struct scribe_identity *who, int64_t deadline);
int scribe_link_hear_hello(struct scribe_link *l, int64_t deadline, struct scribe_msg_hello_ok *ret_ok);
/* Wait for an answer at most this long: true when there is one (or the daemon is gone). */
bool scribe_link_ready(const struct scribe_link *l, int timeout_ms);
/* Ask for the records; this thread's I/O is the runtime's own from now to done. */
int scribe_link_say_fetch(struct scribe_link *l, int64_t deadline);
/* *ret_image: descriptor of the image, the caller's. */
int scribe_link_hear_fetch(struct scribe_link *l, int64_t deadline, struct scribe_msg_fetch_ok *ret_ok,
			   int *ret_image);
/* Tell how it went and wait until the daemon has taken note. */
int scribe_link_done(struct scribe_link *l, bool ok, const char *path, int64_t deadline);

/* Ask for memory in which this process counts its streams: its descriptor, the caller's, or -errno. */
int scribe_link_streams(struct scribe_link *l, const struct scribe_msg_streams *m, int64_t deadline);

/* Move a descriptor out of the low numbers that programs count on; close-on-exec. */
int scribe_fd_high(int fd);

#endif
