/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast parser for JSON as programs write it. */
#ifndef UTIL_STORE_JSON_PLAIN_H
#define UTIL_STORE_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <yajl/yajl_parse.h>

/*
 * Calls YAJL's callbacks for one object. False: not plain (escapes, non-ASCII, true, false, null), invalid, or a
 * callback refused; some callbacks were called then, and the caller must start over with YAJL.
 */
bool scribe_json_plain(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t len);

#endif
