/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_SPAWNER_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_SPAWNER_H

#include <stdbool.h>

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/helper_wire.h"

/*
 * Without the spawner helpers are forked from the caller (tests). `for_run`: of a private daemon, where root's
 * logs may need CAP_DAC_OVERRIDE.
 */
int scribe_helpers_open(bool for_run, struct scribe_err *err);
void scribe_helpers_close(void);
/* The same, if a helper hangs: it must not store a log late that was stored elsewhere. */
void scribe_helpers_end_hung(void);

/* *ret_pid is set only without a spawner. */
int scribe_helper_spawn(const struct scribe_helper_wanted *who, int sock, pid_t *ret_pid);
/* Kills the disconnected helper if it does not exit soon, for example because its user stopped it. */
void scribe_helper_cancel(uint32_t id);
/* The spawner has ended; the daemon lacks the privileges to start another. */
bool scribe_helpers_lost(void);
bool scribe_helper_has_spawner(void);
/* A helper has missed its deadline. */
void scribe_helper_hangs(void);

#endif
