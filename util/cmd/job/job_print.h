/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_JOB_JOB_PRINT_H
#define UTIL_CMD_JOB_JOB_PRINT_H

#include <stdbool.h>
#include <stddef.h>

/* One JOB_ENTRY as a table line (`first`: with the head), as all its lines, or as a JSON object. */
void scribe_job_print_line(const char *text, size_t bytes, bool first);
void scribe_job_print_all(const char *text, size_t bytes, bool first);
void scribe_job_print_json(const char *text, size_t bytes, bool first);

#endif
