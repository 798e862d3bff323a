/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_JOB_JOB_REPORT_H
#define UTIL_CMD_JOB_JOB_REPORT_H

#include <stdbool.h>

/* Of all logs of the job in `log_dir`; NULL: the site's. `line`: for accounting. Returns an exit status. */
int scribe_job_report(const char *self, const char *id, const char *log_dir, bool line);

#endif
