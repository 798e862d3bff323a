/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CORE_MODULE_TABLE_H
#define RUNTIME_CORE_MODULE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/core/module_ops.h"

/* Ends with NULL. */
extern const struct scribe_module_ops *const scribe_daemon_modules[];

/* `list` is the configured one: "A,B" switches on, "-A" off. */
bool scribe_module_is_on(const struct scribe_module_ops *ops, const char *list);
/* A name in the list without a module, in `ret`; NULL: none. */
const char *scribe_module_unknown(const char *list, char *ret, size_t cap);

extern const struct scribe_module_ops scribe_module_null;
extern const struct scribe_module_ops scribe_module_lustre;

#endif
