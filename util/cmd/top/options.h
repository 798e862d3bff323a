/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_OPTIONS_H
#define UTIL_CMD_TOP_OPTIONS_H

#include <stdbool.h>

#include "util/cmd/top/print.h"

enum scribe_top_key {
	SCRIBE_TOP_KEY_JOB = 'j',
	SCRIBE_TOP_KEY_VIEW = 'v',
	SCRIBE_TOP_KEY_SORT = 's',
	SCRIBE_TOP_KEY_FILTER = 'f',
	SCRIBE_TOP_KEY_INTERVAL = 'i',
	SCRIBE_TOP_KEY_ROWS = 'n',
	SCRIBE_TOP_KEY_COUNT = 'c',
	SCRIBE_TOP_KEY_ONCE = 1,
	SCRIBE_TOP_KEY_PID,
	SCRIBE_TOP_KEY_JSON,
	SCRIBE_TOP_KEY_LINES,
};

struct scribe_top_options {
	const char *self;
	struct scribe_top_scope scope;
	enum scribe_top_sort sort;
	const char *filter; /* NULL: none */
	double interval_s;
	unsigned long rows, count; /* count 0: without end */
	bool once, json, lines;
};

#endif
