/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds of a configuration whatever was said: for fuzz_settings.c and fuzz_environment.c. */
#ifndef TESTS_FUZZ_SETTINGS_H
#define TESTS_FUZZ_SETTINGS_H

#include "runtime/daemon/config/config.h"

/* The defaults, made once. */
const struct scribe_config *settings_defaults(void);
/*
 * Texts end in their fields, numbers are in range, what is the site's alone is as it was where `locked`,
 * what counts at a job's beginning where `late`; a copy says the same. Else it aborts.
 */
void settings_check(const struct scribe_config *c, bool locked, bool late);

#endif
