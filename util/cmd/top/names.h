/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of files of running jobs, asked for once and kept; and what rows are called. */
#ifndef UTIL_CMD_TOP_NAMES_H
#define UTIL_CMD_TOP_NAMES_H

#include "util/cmd/top/rates.h"

struct scribe_top_names;

struct scribe_top_names *scribe_top_names_new(void); /* NULL: out of memory */
struct scribe_top_names *scribe_top_names_free(struct scribe_top_names *names);

/* Ask for those of the rows [first, end) that are not known. 0, or negative with a line in err. */
int scribe_top_names_fetch(struct scribe_top_names *names, struct scribe_live_link *link,
			   const struct scribe_top_rows *rows, size_t first, size_t end,
			   struct scribe_err *err);
/* Any bytes, borrowed, "" where the row has no name; its length in *len. */
const char *scribe_top_name(const struct scribe_top_names *names, const struct scribe_top_row *row,
			    size_t *len);

#endif
