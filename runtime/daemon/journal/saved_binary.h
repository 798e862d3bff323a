/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of the pinning build and its configuration finishes its jobs after an upgrade. */
#ifndef RUNTIME_DAEMON_JOURNAL_SAVED_BINARY_H
#define RUNTIME_DAEMON_JOURNAL_SAVED_BINARY_H

#include "logfmt/base/err.h"

/* Saves this program and its configuration (`config` may be NULL) in DIR/state; errors are printed. */
void scribe_build_keep(const char *dir, const char *config);
void scribe_build_forget(const char *dir);
/*
 * Waits for the saved build, at most SCRIBE_BUILD_FINISH_S seconds. `lock`: passed on. -ENOENT: none is saved;
 * -ETIMEDOUT; -EIO: it failed.
 */
int scribe_build_finish(const char *dir, int lock, struct scribe_err *err);
#define SCRIBE_BUILD_FINISH_S 120

#endif
