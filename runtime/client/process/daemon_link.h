/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No connection is open between MPI_Init and MPI_Finalize: the program may close or reuse unknown descriptors, and
 * children inherit them.
 */
#ifndef RUNTIME_CLIENT_PROCESS_DAEMON_LINK_H
#define RUNTIME_CLIENT_PROCESS_DAEMON_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

struct scribe_link {
	int sock;     /* -1: not connected */
	void *packet; /* buffer for a message, mapped */
};

struct scribe_identity {
	int rank, size;
	enum scribe_mpi_kind mpi;
	char world[SCRIBE_WORLD_MAX]; /* or "" */
};

/* All calls end by `deadline` (scribe_msg_now_ms) and return 0 or -errno. */

/* The socket is named by the environment. */
int scribe_link_open(struct scribe_link *l, int64_t deadline);
void scribe_link_close(struct scribe_link *l);

/* START: until this new process is recorded; PROBED: until its libraries are probed. */
int scribe_link_start(struct scribe_link *l, enum scribe_msg_type what, uint64_t until_ns, int64_t deadline);

int scribe_link_send_hello(struct scribe_link *l, const struct scribe_identity *who, int64_t deadline);
int scribe_link_receive_hello(struct scribe_link *l, int64_t deadline, struct scribe_msg_hello_ok *ret_ok);
/* Also true when the daemon has closed the connection. */
bool scribe_link_ready(const struct scribe_link *l, int timeout_ms);
/* From now to DONE this thread's I/O is the runtime's. */
int scribe_link_send_fetch(struct scribe_link *l, int64_t deadline);
/* The caller owns *ret_image. */
int scribe_link_receive_fetch(struct scribe_link *l, int64_t deadline, struct scribe_msg_fetch_ok *ret_ok,
			      int *ret_image);
/* Returns after the daemon's reply. */
int scribe_link_done(struct scribe_link *l, bool ok, const char *path, int64_t deadline);

/* A descriptor of memory for this process's counters, owned by the caller, or -errno. */
int scribe_link_streams(struct scribe_link *l, const struct scribe_msg_streams *m, int64_t deadline);

/* Moves a descriptor above the numbers that programs expect; close-on-exec. */
int scribe_fd_high(int fd);

#endif
