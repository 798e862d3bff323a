/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of export. Each receives opened logs one after another. */
#ifndef UTIL_CMD_EXPORT_EXPORT_FORMAT_H
#define UTIL_CMD_EXPORT_EXPORT_FORMAT_H

#include "util/cmd/export/export_table.h"

struct scribe_export_options {
	const char *output; /* file or directory; NULL: standard output */
	const char *argv0;
	char *const *only; /* tables of --table, NULL-terminated; NULL: all */
	int logs;
};

bool scribe_export_is_wanted(const struct scribe_export_options *o, const char *table);

struct scribe_export_format {
	int (*open)(const struct scribe_export_options *o, void **ret_ctx, struct scribe_err *err);
	int (*log)(void *ctx, struct scribe_log *log, struct scribe_err *err);
	/* Discards the rows of a log that failed. True: the next log can follow. NULL: not supported. */
	bool (*drop)(void *ctx);
	int (*close)(void *ctx, int failed, struct scribe_err *err);
};

extern const struct scribe_export_format scribe_export_json;
extern const struct scribe_export_format scribe_export_json_lines;
extern const struct scribe_export_format scribe_export_csv;
extern const struct scribe_export_format scribe_export_sqlite;

#endif
