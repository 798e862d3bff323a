/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log as tables: what every export format is made from. Tables and columns
 * are described in docs/export.md.
 */
#ifndef UTIL_CMD_EXPORT_EXPORT_TABLE_H
#define UTIL_CMD_EXPORT_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/export/export_sink.h"
#include "util/logs/logfile.h"

/* Send all tables of a log to a sink: job, metadata, mount, file, then the modules. */
int scribe_export_log(struct scribe_log *log, const struct scribe_export_sink *sink, struct scribe_err *err);

/* Is there a table of that name in any log? */
bool scribe_export_has_table(const char *name);

/* A number that is the same for the same bytes: tells whether a log was seen before. */
int scribe_export_digest(const char *path, uint64_t *ret_digest, int64_t *ret_bytes, struct scribe_err *err);

#endif
