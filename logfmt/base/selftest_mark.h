/* SPDX-License-Identifier: BSD-3-Clause */
/* The file in the service's directory that says which version and kernel `ioscribe doctor --selftest` passed on. */
#ifndef LOGFMT_BASE_SELFTEST_MARK_H
#define LOGFMT_BASE_SELFTEST_MARK_H

#include <stdbool.h>

/* This version and kernel. 0 or -errno. */
int scribe_selftest_mark(const char *dir);
bool scribe_selftest_passed(const char *dir);

#endif
