/* SPDX-License-Identifier: BSD-3-Clause */
/* A log as one page of HTML. */
#ifndef UTIL_CMD_REPORT_REPORT_H
#define UTIL_CMD_REPORT_REPORT_H

#include "util/cmd/summary/summary.h"

/* Members of the page's JSON object, "KEY":VALUE, without a comma around. 0 or negative with a message. */
/* "grids": bytes by rank and time, a layer each; "timelines": single operations by rank and time. */
int scribe_report_grids(const struct scribe_summary *s, struct scribe_out *out, struct scribe_err *err);
/* "tables": files, ranks, directories, file systems, processes, layouts, and counters of each module. */
int scribe_report_tables(const struct scribe_summary *s, struct scribe_out *out, struct scribe_err *err);

enum scribe_report_kind { SCRIBE_REPORT_LOG, SCRIBE_REPORT_MANY };

/* The page around data; `text`: what is shown without JavaScript. */
void scribe_report_page(enum scribe_report_kind kind, const struct scribe_out *json, const struct scribe_out *text,
			struct scribe_out *out);

/* Data of two logs compared, and of all logs below a directory, with the same in short as text. */
int scribe_report_compare(char **paths, struct scribe_out *json, struct scribe_out *text, struct scribe_err *err);
int scribe_report_survey(const char *argv0, const char *directory, struct scribe_out *json, struct scribe_out *text,
			 struct scribe_err *err);

int scribe_report_main(int argc, char **argv);

#endif
