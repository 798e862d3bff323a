/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_COLUMNS_H
#define UTIL_CMD_TOP_COLUMNS_H

#include "util/cmd/top/names.h"

#define SCRIBE_TOP_CELL 33800
#define SCRIBE_TOP_WIDE 120 /* terminal columns from which wide columns are shown */

enum scribe_top_sort {
	SCRIBE_TOP_BY_RATE,
	SCRIBE_TOP_BY_READ,
	SCRIBE_TOP_BY_WRITE,
	SCRIBE_TOP_BY_OPS,
	SCRIBE_TOP_BY_META,
	SCRIBE_TOP_BY_MEAN,
	SCRIBE_TOP_BY_MAX,
	SCRIBE_TOP_BY_SIZE,
	SCRIBE_TOP_BY_TOTAL,
	SCRIBE_TOP_BY_NAME,
	SCRIBE_TOP_SORTS
};

const char *scribe_top_sort_name(enum scribe_top_sort sort);
int scribe_top_sort_of(const char *name);
const char *scribe_top_view_name(enum scribe_top_view view);
int scribe_top_view_of(const char *name);

struct scribe_top_column {
	const char *head;
	int width;
	bool left;
	bool wide;
	void (*cell)(const struct scribe_top_row *row, const struct scribe_top_names *names, char *to);
};

const struct scribe_top_column *scribe_top_columns(enum scribe_top_view view);

void scribe_top_layers(const struct scribe_top_row *row, char *to, size_t cap);

/* Of rows of jobs: which makes the most opens, stats and failed lookups, and where. False: none makes many. */
bool scribe_top_most_metadata(const struct scribe_top_rows *rows, char *to, size_t cap);
/* Values descend, names ascend. Names must be fetched before when they decide. */
void scribe_top_rows_sort(struct scribe_top_rows *rows, enum scribe_top_sort sort, enum scribe_top_view view,
			  const struct scribe_top_names *names);
/* Keeps rows with this text in job, user, program or file. */
void scribe_top_rows_filter(struct scribe_top_rows *rows, const char *text, enum scribe_top_view view,
			    const struct scribe_top_names *names);

#endif
