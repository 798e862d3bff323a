/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_EXPORT_EXPORT_TABLE_H
#define UTIL_CMD_EXPORT_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/export/export_sink.h"
#include "util/logs/logfile.h"

/* Sends job, metadata, mount, file, then the modules. */
int scribe_export_log(struct scribe_log *log, const struct scribe_export_sink *sink, struct scribe_err *err);

bool scribe_export_has_table(const char *name);

/* A hash of all bytes of the file, to recognise a log that was added before. */
int scribe_export_digest(const char *path, uint64_t *ret_digest, int64_t *ret_bytes, struct scribe_err *err);

#endif
