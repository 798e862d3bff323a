/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the makers of rows share: util/cmd/export/export_table.c, which walks a log, and
 * util/cmd/export/export_lists.c, for records that are lists. Nobody else needs it.
 */
#ifndef UTIL_CMD_EXPORT_EXPORT_ROWS_H
#define UTIL_CMD_EXPORT_EXPORT_ROWS_H

#include <string.h>

#include "util/cmd/export/export_sink.h"
#include "util/logs/logfile.h"

#define SCRIBE_EXPORT_MAX_COLUMNS 1024
#define SCRIBE_EXPORT_PLACES      5 /* columns that every record's row begins with */

/* A log on its way into a sink, one row at a time. */
struct scribe_export_rows {
	struct scribe_log *log;
	const struct scribe_export_sink *sink;
	struct scribe_export_table table;
	struct scribe_column columns[SCRIBE_EXPORT_MAX_COLUMNS];
	struct scribe_cell cells[SCRIBE_EXPORT_MAX_COLUMNS];
	char table_name[64];
	char pool[80], oid[64];
	char *list; /* of the row being made */
	struct scribe_err *err;
};

static inline struct scribe_cell cell_int(int64_t v)
{
	return (struct scribe_cell){.i = v};
}

static inline struct scribe_cell cell_real(double v)
{
	return (struct scribe_cell){.r = v};
}

static inline struct scribe_cell cell_id(uint64_t v)
{
	return (struct scribe_cell){.id = v};
}

static inline struct scribe_cell cell_bytes(const char *bytes, size_t len)
{
	return (struct scribe_cell){.null = bytes == NULL, .text = {bytes, len}};
}

static inline struct scribe_cell cell_text(const char *text)
{
	return cell_bytes(text, text ? strlen(text) : 0);
}

/* The cells of a record's place; returns the number of cells. */
int scribe_export_place(struct scribe_export_rows *r, const void *record);
/* Hand the row's cells to the sink. */
int scribe_export_row(struct scribe_export_rows *r);
/* "3 7 12": the caller frees. NULL: out of memory. No ints: "". */
char *scribe_export_ints(const int64_t *ints, int64_t n);

/* A module whose records become several rows each. */
struct scribe_export_list {
	int module;
	const struct scribe_column *columns;
	int ncolumns;
	int (*rows)(struct scribe_export_rows *r, const void *record);
};

/* NULL: the module has a row a record. */
const struct scribe_export_list *scribe_export_list_of(int module);

#endif
