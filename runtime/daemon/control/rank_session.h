/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation with the runtime at MPI_Finalize.
 */
#ifndef RUNTIME_DAEMON_CONTROL_RANK_SESSION_H
#define RUNTIME_DAEMON_CONTROL_RANK_SESSION_H

#include "runtime/daemon/state/daemon.h"

/* Checked messages of a rank; negative: disconnect. */
int scribe_fetch_message(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_fetch *m);
int scribe_fetch_done(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_done *m);
/* Answer the FETCHes of worlds whose ranks have all come, or cannot any more. */
void scribe_fetch_answer_ready(struct scribe_daemon *d);
/* Its connection is gone. */
void scribe_fetch_drop(struct scribe_client *c);
/* Can the ranks of this world not all come any more? */
bool scribe_fetch_in_vain(const struct scribe_log_unit *u);

#endif
