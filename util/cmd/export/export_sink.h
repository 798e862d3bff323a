/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, columns and rows, and their receiver: the interface between a log and the export formats. */
#ifndef UTIL_CMD_EXPORT_EXPORT_SINK_H
#define UTIL_CMD_EXPORT_EXPORT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

enum scribe_column_kind {
	SCRIBE_COL_INT,
	SCRIBE_COL_REAL,
	SCRIBE_COL_TEXT,
	SCRIBE_COL_ID,    /* record id, 64 bits unsigned */
	SCRIBE_COL_PLACE, /* text that table `file` holds by record id */
};

struct scribe_column {
	const char *name;
	enum scribe_column_kind kind;
};

struct scribe_cell {
	int null;
	union {
		int64_t i;
		uint64_t id;
		double r;
		struct {
			const char *bytes;
			size_t len;
		} text;
	};
};

struct scribe_export_table {
	const char *name;
	const struct scribe_column *columns;
	int ncolumns;
};

/* Receiver of rows. Functions return 0 or a negative code with a message. */
struct scribe_export_sink {
	/* Starts a table for the rows that follow; called at most once per log and table. */
	int (*table)(void *ctx, const struct scribe_export_table *t, struct scribe_err *err);
	int (*row)(void *ctx, const struct scribe_export_table *t, const struct scribe_cell *cells,
		   struct scribe_err *err);
	void *ctx;
	bool (*wanted)(void *ctx, const char *table);
};

#endif
