/* SPDX-License-Identifier: BSD-3-Clause */
/* What `ioscribe job` prints of jobs. */
#ifndef UTIL_CMD_JOB_JOB_PRINT_H
#define UTIL_CMD_JOB_JOB_PRINT_H

#include <stdbool.h>
#include <stddef.h>

/* One JOB_ENTRY: a line of the table (its head with `first`), all of it, or an object of JSON. */
void scribe_job_print_line(const char *text, size_t bytes, bool first);
void scribe_job_print_all(const char *text, size_t bytes, bool first);
void scribe_job_print_json(const char *text, size_t bytes, bool first);

#endif
