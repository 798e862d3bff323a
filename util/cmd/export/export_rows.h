/* SPDX-License-Identifier: BSD-3-Clause */
/* Only for export_table.c and export_lists.c. */
#ifndef UTIL_CMD_EXPORT_EXPORT_ROWS_H
#define UTIL_CMD_EXPORT_EXPORT_ROWS_H

#include <string.h>

#include "util/cmd/export/export_sink.h"
#include "util/logs/logfile.h"

#define SCRIBE_EXPORT_MAX_COLUMNS 1024
#define SCRIBE_EXPORT_PLACES      5 /* columns at the start of every record's row */

struct scribe_export_rows {
	struct scribe_log *log;
	const struct scribe_export_sink *sink;
	struct scribe_export_table table;
	struct scribe_column columns[SCRIBE_EXPORT_MAX_COLUMNS];
	struct scribe_cell cells[SCRIBE_EXPORT_MAX_COLUMNS];
	char table_name[64];
	char pool[80], oid[64];
	char *list; /* owned; freed after its row */
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

/* Sets the first cells of a record's row; a record without a name has null there. Returns their number. */
int scribe_export_place(struct scribe_export_rows *r, const void *record);
int scribe_export_row(struct scribe_export_rows *r);
/* "3 7 12", "" for n = 0; the caller frees. NULL: out of memory. */
char *scribe_export_ints(const int64_t *ints, int64_t n);

/* A module with several rows per record. */
struct scribe_export_list {
	int module;
	const struct scribe_column *columns;
	int ncolumns;
	int (*rows)(struct scribe_export_rows *r, const void *record);
};

const struct scribe_export_list *scribe_export_list_of(int module);

#endif
