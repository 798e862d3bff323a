/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of modules that are fed by plain code (runtime/core/module_ops.h), and who is on. */
#ifndef RUNTIME_CORE_MODULE_TABLE_H
#define RUNTIME_CORE_MODULE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/core/module_ops.h"

/* All sources, ending with a NULL name. */
extern const struct scribe_module_ops *const scribe_daemon_modules[];

/*
 * Is this source on, given the configured list ("A,B" switches on, "-A" off)?
 */
bool scribe_module_is_on(const struct scribe_module_ops *ops, const char *list);
/* A name in the list that no source has; NULL when all are known. Written to `ret`. */
const char *scribe_module_unknown(const char *list, char *ret, size_t cap);

extern const struct scribe_module_ops scribe_module_null; /* null_module.c */
extern const struct scribe_module_ops scribe_module_lustre; /* lustre_module.c */

#endif
