/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that makes helpers; what they are asked is in helper.h. */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_SPAWNER_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_SPAWNER_H

#include <stdbool.h>

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/helper_wire.h"

/*
 * Start the process that makes helpers. Without it helpers are forked from the
 * caller itself (tests). `for_run`: of a private daemon, whose root may put its
 * own logs where only root's power over permissions reaches.
 */
int scribe_helpers_open(bool for_run, struct scribe_err *err);
/* End it, and with it every helper. */
void scribe_helpers_close(void);
/* The same where a helper hangs: it is not to put a log later that has been put elsewhere. */
void scribe_helpers_end_hung(void);

/*
 * Have a helper made that serves this socket; without a process that makes them it is forked here, and ret_pid says
 * which it is. Negative: it cannot be.
 */
int scribe_helper_spawn(const struct scribe_helper_wanted *who, int sock, pid_t *ret_pid);
/* It has been disconnected: where it does not end by itself soon (its user has stopped it) it is killed. */
void scribe_helper_cancel(uint32_t id);
/* The process that makes helpers has ended: there are no more, as this one has given up what making another
 * takes. */
bool scribe_helpers_lost(void);
bool scribe_helper_has_spawner(void);
/* One has not answered in time. */
void scribe_helper_hangs(void);

#endif
