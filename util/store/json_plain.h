/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_JSON_PLAIN_H
#define UTIL_STORE_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <yajl/yajl_parse.h>

/*
 * False: not plain (escapes, non-ASCII, true, false, null), invalid, or refused by a callback; the caller must
 * start over with YAJL.
 */
bool scribe_json_plain(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t len);

#endif
