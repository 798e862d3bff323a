/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The build that pinned: kept beside the journals, with the configuration it had,
 * so that it can finish its jobs when another build, which cannot read what it
 * left, has taken its place.
 */
#ifndef RUNTIME_DAEMON_JOURNAL_SAVED_BINARY_H
#define RUNTIME_DAEMON_JOURNAL_SAVED_BINARY_H

#include "logfmt/base/err.h"

/* Keep this program and its configuration (`config`: a file, NULL none) in DIR/state. What fails is said. */
void scribe_build_keep(const char *dir, const char *config);
void scribe_build_forget(const char *dir);
/*
 * Let the kept build finish its jobs, and wait for that, at most
 * SCRIBE_BUILD_FINISH_S seconds. `lock`: the locked file of the directory, which
 * it takes over for that time. -ENOENT: none is kept; -ETIMEDOUT; -EIO: it failed.
 */
int scribe_build_finish(const char *dir, int lock, struct scribe_err *err);
#define SCRIBE_BUILD_FINISH_S 120

#endif
